"""The node annotator: node load from Prometheus, and how many pods a node got lately, as annotations of the node.

`controller` does it; `matching`, `hot_values`, `planning` and `pacing` are its rules and know nothing of a network, so
that the simulator keeps to the same ones. `app.annotator` makes a process of it.
"""
