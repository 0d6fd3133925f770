"""Several configurations on the same cluster and workload: ``bayplan compare``.  Begin with ``comparing``."""
