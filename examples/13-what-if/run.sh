echo '$ bayplan what-if --drain n1'
bayplan what-if -f cluster.yaml --drain n1
echo "exit code $?"
echo
echo '$ bayplan what-if --remove zone=c --add 1 --node-template m5.yaml'
bayplan what-if -f cluster.yaml --remove zone=c --add 1 --node-template m5.yaml
echo "exit code $?"
echo
echo '$ bayplan what-if --apply web-large.yaml'
bayplan what-if -f cluster.yaml --apply web-large.yaml
echo "exit code $?"
echo
echo '$ bayplan fit --pod pod.yaml'
bayplan fit -f cluster.yaml --pod pod.yaml
echo
echo '$ bayplan fit --node-template m5.yaml --price 0.1'
bayplan fit -f cluster.yaml --node-template m5.yaml --price 0.1
echo
echo '$ bayplan fit --shrink'
bayplan fit -f cluster.yaml --shrink
echo
echo '$ bayplan fit --pod large.yaml --make-room'
bayplan fit -f cluster.yaml --pod large.yaml --make-room
echo
echo '$ bayplan fit --pod large.yaml --make-room -o yaml > plan.yaml; bayplan rebalancer --plan plan.yaml --dry-run'
bayplan fit -f cluster.yaml --pod large.yaml --make-room -o yaml | bayplan rebalancer --plan - --dry-run -f cluster.yaml
echo
echo '$ bayplan fit --pod large.yaml --make-room --count 3'
bayplan fit -f cluster.yaml --pod large.yaml --make-room --count 3
echo
echo '$ bayplan compare --config packing.yaml --afresh'
bayplan compare -f cluster.yaml --config packing.yaml --afresh
