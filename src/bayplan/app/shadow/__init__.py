"""The shadow: beside the scheduler of a cluster, read-only."""
