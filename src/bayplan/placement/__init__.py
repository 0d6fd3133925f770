"""Many clusters: which of them a Placement gets.  Pure; the hub controller and `bayplan place` drive it."""
