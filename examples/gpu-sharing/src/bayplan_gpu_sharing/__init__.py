"""Pods that share GPUs by the thousandth, and six policies for where to put them."""
