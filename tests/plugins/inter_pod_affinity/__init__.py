"""InterPodAffinity, one file per behaviour."""
