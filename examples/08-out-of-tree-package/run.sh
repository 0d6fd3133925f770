bayplan plugins | grep "^SameRack" | tr -s " "
echo
bayplan simulate -f cluster.yaml --config config.yaml
