"""``bayplan placement``: the controller on a hub."""
