"""A plugin of one's own that reads an annotation nobody else knows.  Tests give the file to ``--plugin``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bayplan.framework import Code, FilterPlugin, Reason

PLUGIN = f"{Path(__file__)}:SameRack"
OTHER_RACK = Reason(Code.UNRESOLVABLE, "node(s) were in another rack")


class SameRack(FilterPlugin):
    name = "SameRack"
    reasons = (OTHER_RACK,)

    def filter_node(self, state: Any, pod: Any, node: Any) -> Any:
        wanted = pod.annotations.get("example.com/rack")
        return OTHER_RACK if wanted and node.labels.get("rack") != wanted else None
