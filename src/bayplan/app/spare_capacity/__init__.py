"""The controller of spare capacity as part of the live rebalancer and annotator processes."""
