"""Scheduling rules about racks.  Bayplan finds them by their entry points."""
