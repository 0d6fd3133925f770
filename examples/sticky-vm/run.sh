echo "# its first pod goes anywhere"
bayplan simulate -f nodes.yaml -f first.yaml --config scheduler-config.yaml
echo
echo "# every later one goes to the node that is noted in the machine"
bayplan sticky list -f nodes.yaml -f again.yaml
bayplan simulate -f nodes.yaml -f again.yaml --config scheduler-config.yaml
echo
echo "# and waits for it"
bayplan simulate -f node-1-cordoned.yaml -f again.yaml --config scheduler-config.yaml
