"""
For plugin authors: builders of any object, a harness for one plugin, whole simulations, and the checks that both
forms agree and that promises hold.

Nothing that is shipped to run a cluster imports this package.
"""

from bayplan.testing.agreement import assert_forms_agree, random_cluster, random_node, random_pod
from bayplan.testing.builders import NodeBuilder, ObjectBuilder, PodBuilder, api_object, node, pod
from bayplan.testing.harness import Recorder, cluster, make, reasons, run_filter, run_score
from bayplan.testing.holding import Holding, holding
from bayplan.testing.promises import assert_promises_hold
from bayplan.testing.simulating import simulate

__all__ = [
    "Holding",
    "NodeBuilder",
    "ObjectBuilder",
    "PodBuilder",
    "Recorder",
    "api_object",
    "assert_forms_agree",
    "assert_promises_hold",
    "cluster",
    "holding",
    "make",
    "node",
    "pod",
    "random_cluster",
    "random_node",
    "random_pod",
    "reasons",
    "run_filter",
    "run_score",
    "simulate",
]
