rows=$(mktemp -d)
bayplan sweep sweep.yaml --workers 2 --out "$rows/rows.csv" | sed "s#$rows/##"
echo
bayplan sweep sweep.yaml --workers 2 --out "$rows/rows.csv" | tail -1 | sed "s#$rows/##"
echo
bayplan simulate -f arrivals.yaml --config configs/BestFit.yaml --summary | tail -1
echo
sed "s/num_gpu/gpu_num/" pods.csv > "$rows/pods.csv" && sed "s#pods.csv#$rows/pods.csv#" trace.yaml > "$rows/trace.yaml"
cp nodes.csv "$rows" && bayplan simulate -f "$rows/trace.yaml" 2>&1 | sed "s#$rows/##g"
