"""``bayplan rebalancer`` as a process."""
