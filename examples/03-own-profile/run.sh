bayplan simulate -f cluster.yaml --config config.yaml
