"""`explain` of one pod among objects that a test made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayplan.objects.files.manifests import Document
from bayplan.plugins.plugin_set import registry
from bayplan.simulator.explain.explanation import explain_pod
from bayplan.simulator.explain.subject import POD, Subject
from bayplan.simulator.loading import documents_of, load
from bayplan.simulator.world import assemble


def explain_documents(
    docs: Sequence[dict[str, Any]],
    namespace: str,
    name: str,
    *,
    config: dict[str, Any] | None = None,
    plugins: Sequence[str] = (),
    now: float | None = None,
    seed: int = 0,
    discover: bool = True,
) -> dict[str, Any]:
    """What ``explain_pod`` says of one pod among raw objects."""
    given = load(
        documents_of(docs), None if config is None else Document("config", 0, config), registry(plugins, discover)
    )
    only = Subject(POD, namespace, name)
    world = assemble(given, seed=seed, now=now, only=only)
    return explain_pod(world, namespace, name)
