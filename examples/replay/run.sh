# The recording with the configuration it was made with, then with another one.
bayplan replay monday.jsonl
echo "exit code $?"
echo
bayplan replay monday.jsonl --config packing.yaml
echo "exit code $?"
echo
bayplan replay monday.jsonl --config packing.yaml -o json | grep '"because"' | sort | uniq -c
