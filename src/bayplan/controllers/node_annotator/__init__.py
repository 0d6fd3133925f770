"""The node annotator: node load from Prometheus, and how many pods a node got lately, as annotations of the node.

`controller` does it; `node_index`, `hot_values`, `sync_plan` and `token_bucket` are its rules and know nothing of a
network, so that the simulator keeps to the same ones. `app.annotator.live` makes a process of it.
"""
