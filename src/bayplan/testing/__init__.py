"""
For plugin authors: builders of pods and nodes, a harness for one plugin, and the check that both forms agree.

Nothing that is shipped to run a cluster imports this package.
"""

from bayplan.testing.builders import NodeBuilder, PodBuilder, node, pod
from bayplan.testing.harness import Recorder, cluster, make, reasons, run_filter, run_score

__all__ = [
    "NodeBuilder",
    "PodBuilder",
    "Recorder",
    "cluster",
    "make",
    "node",
    "pod",
    "reasons",
    "run_filter",
    "run_score",
]
