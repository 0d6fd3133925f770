"""Hand-written clusters, each about one sentence of what kube-scheduler v1.36 does, with the answer it must give.

``tests/parity/test_scenarios.py`` shows them to the real scheduler: that holds our understanding of it to the truth.
The same cases are then compared with Bayplan like generated ones.
"""

from __future__ import annotations

from tests.parity.scenarios.devices import DEVICES
from tests.parity.scenarios.filters import FILTERS
from tests.parity.scenarios.messages import MESSAGES
from tests.parity.scenarios.preemption import PREEMPTION
from tests.parity.scenarios.scenario import Scenario
from tests.parity.scenarios.scores import SCORES

__all__ = ["SCENARIOS", "Scenario"]

SCENARIOS: tuple[Scenario, ...] = (*SCORES, *FILTERS, *MESSAGES, *PREEMPTION, *DEVICES)
