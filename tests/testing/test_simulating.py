"""A simulation from Python takes files, manifests and builders, and plugins as classes or by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bayplan.errors import InputError
from bayplan.framework import Code, FilterPlugin, Kind, Reason
from bayplan.testing import api_object, node, pod, simulate

CLOSED = Reason(Code.UNRESOLVABLE, "node(s) were closed")


class OpenOnly(FilterPlugin):
    name = "OpenOnly"
    reasons = (CLOSED,)
    reads = (Kind("example.com", "v1", "Closing"),)

    def filter_node(self, state: Any, pod: Any, node: Any) -> Reason | None:
        assert self.handle is not None
        closed = {each["spec"]["node"] for each in self.handle.objects.list("Closing")}
        return CLOSED if node.name in closed else None


def placed(document: dict[str, Any]) -> dict[str, str | None]:
    return {each["name"]: each["node"] for each in document["pods"]}


def test_builders_and_a_plugin_class() -> None:
    closing = api_object("Closing", "c", spec={"node": "n1"})
    document = simulate(node("n1"), node("n2"), pod("web").cpu(1), closing, plugins=[OpenOnly], now=0.0)

    assert placed(document) == {"web": "n2"}


def test_files_manifests_configurations_and_plugins_by_name(tmp_path: Path) -> None:
    file = tmp_path / "node.json"
    file.write_text(
        '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"pods": "9"}}}'
    )
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "mine"}],
    }
    told: list[str] = []
    spec = f"{__name__}:OpenOnly"
    document = simulate(
        file, pod("a").scheduler("mine").manifest(), pod("b"), plugins=[spec], config=config, now=0.0, warn=told.append
    )

    assert placed(document) == {"a": "n1", "b": None}
    assert [each["state"] for each in document["pods"]] == ["Bound", "Ignored"]


def test_mistakes_are_those_of_the_command_line() -> None:
    with pytest.raises(InputError, match=r"spec\.contianers: unknown field"):
        simulate({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"contianers": []}})
