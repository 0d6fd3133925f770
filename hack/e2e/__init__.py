"""Kubernetes' own end-to-end tests of scheduling on the development cluster, with kube-scheduler and with Bayplan."""
