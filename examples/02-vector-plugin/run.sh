bayplan explain pod web -f cluster.yaml
echo
bayplan explain pod web -f cluster.yaml --config config.yaml --plugin quiet_nodes.py:QuietNodes
