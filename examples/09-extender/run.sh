python3 extender.py 18090 &
trap "kill $!" EXIT
for verb in filter prioritize; do
  curl -s --retry 10 --retry-connrefused --retry-delay 1 --data @request.json http://127.0.0.1:18090/$verb
  echo
done
bayplan simulate -f cluster.yaml --config config.yaml
