bayplan place -f . --now 2026-01-31T10:30:00Z
echo "exit code $?"
echo
bayplan place -f . --now 2026-01-31T10:30:00Z --without region=eu
echo "exit code $?"
