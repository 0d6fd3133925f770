"""What-ifs in one line each, for the tests of ``simulator.what_if``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from bayplan.simulator.loading import documents_of, load
from bayplan.simulator.what_if import reading
from bayplan.simulator.what_if.changes import Change
from bayplan.simulator.what_if.scenario import Question, what_if
from tests.simulator.support import START, Manifest


def asked(
    manifests: Sequence[Manifest], *changes: Change, applied: Sequence[Manifest] = (), **question: Any
) -> dict[str, Any]:
    """The document for a cluster of these objects."""
    more = [reading._marked(each) for each in documents_of(applied)]
    given = load([*documents_of(manifests), *more])
    coming = reading.coming(given)
    return what_if(dataclasses.replace(given, later=[]), Question(changes, coming, **question), now=START)


def on(name: str, node: str, owner: str, **spec: Any) -> Manifest:
    """A pod of a ReplicaSet that runs on a node."""
    reference = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": owner,
        "uid": f"uid-{owner}",
        "controller": True,
    }
    container = {"name": "main", "image": "app", "resources": {"requests": {"cpu": spec.pop("cpu", "1")}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": owner}, "ownerReferences": [reference]},
        "spec": {"nodeName": node, "containers": [container], **spec},
        "status": {"phase": "Running"},
    }


def keys(pods: Sequence[dict[str, Any]]) -> list[str]:
    return [each["name"] for each in pods]
