"""PodTopologySpread, one file per behaviour."""
