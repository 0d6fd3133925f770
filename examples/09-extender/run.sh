python3 extender.py 18090 &
trap "kill $!" EXIT
for verb in filter prioritize; do
  python3 ask.py http://127.0.0.1:18090/$verb
done
bayplan simulate -f cluster.yaml --config config.yaml
