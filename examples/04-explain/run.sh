for pod in web big big-and-important resident
do
    bayplan explain pod $pod -f cluster.yaml
    echo "exit code $?"
    echo
done
