bayplan simulate -f .
echo "exit code $?"
echo
bayplan explain pod report -n lab -f .
echo
bayplan explain pod gateway -n shop -f .
