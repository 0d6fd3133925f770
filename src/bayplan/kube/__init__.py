"""Talking to the Kubernetes API: the only package that opens sockets."""
