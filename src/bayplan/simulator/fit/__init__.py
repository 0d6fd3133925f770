"""What more fits into a cluster, which nodes to buy, and which to empty: ``bayplan fit``.  Begin with ``filling``."""
