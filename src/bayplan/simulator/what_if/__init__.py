"""What a cluster would be like after some changes: ``bayplan what-if``.  Begin with ``scenario``."""
