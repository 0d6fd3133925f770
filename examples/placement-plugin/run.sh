bayplan place -f fleet.yaml -f placement.yaml --plugin certified.py:Certified --plugin certified.py:Newest
echo "exit code $?"
