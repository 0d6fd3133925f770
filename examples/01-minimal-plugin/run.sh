bayplan simulate -f cluster.yaml --plugin no_spot_nodes.py:NoSpotNodes --plugin prefer_fast_disks.py:PreferFastDisks
echo "exit code $?"
echo
bayplan explain pod db -f cluster.yaml --plugin no_spot_nodes.py:NoSpotNodes --plugin prefer_fast_disks.py:PreferFastDisks
