"""
A simulation from Python: ``simulate("cluster.yaml", plugins=[SameRack])`` gives the document that ``-o json`` prints.

For tests and scripts.  It takes files, manifests and builders alike, and plugins as classes or as ``module:Class``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bayplan.framework.plugin import Plugin
from bayplan.objects.files import manifests
from bayplan.objects.files.manifests import Document
from bayplan.plugins.plugin_set import Plugins, registry
from bayplan.simulator import loading, simulation
from bayplan.testing.builders import Builder


def simulate(
    *given: str | Path | Mapping[str, Any] | Builder[Any],
    plugins: Sequence[type[Plugin] | str] = (),
    config: str | Path | Mapping[str, Any] | None = None,
    seed: int = 0,
    now: float | None = None,
    run_for_s: float | None = None,
    explain: bool = False,
    warn: Callable[[str], None] = lambda warning: None,
) -> dict[str, Any]:
    """
    Schedule everything in the files, manifests and builders; the document ``kind: Simulation``.

    Args:
        plugins: classes, or ``module:Class`` as for ``--plugin``.
        config: a KubeSchedulerConfiguration, as a file or a mapping.
        seed: breaks ties and makes names; the same seed, the same run.
        now: when virtual time starts, in epoch seconds; the real time if it is not given.
        run_for_s: let virtual time run on this long; without it the run ends when nothing more can happen.
        explain: give every pending pod its explanation.
        warn: hears of everything that has no effect.
    """
    known = _registered(plugins)
    documents = [document for each in given for document in _documents(each)]
    settings = None if config is None else _config(config)
    made = loading.load(documents, settings, known, strict=True)
    return simulation.simulate(made, seed=seed, now=now, run_for_s=run_for_s, with_explanations=explain, warn=warn)


def _registered(plugins: Sequence[type[Plugin] | str]) -> Plugins:
    known, extra = registry([each for each in plugins if isinstance(each, str)])
    own = tuple(known.register(each, "plugins").name for each in plugins if not isinstance(each, str))
    return Plugins(known, (*extra, *own))


def _documents(given: str | Path | Mapping[str, Any] | Builder[Any]) -> list[Document]:
    if isinstance(given, str | Path):
        return manifests.read([given])
    return loading.documents_of([given.manifest() if isinstance(given, Builder) else dict(given)])


def _config(given: str | Path | Mapping[str, Any]) -> Document:
    return loading.read_config(given) if isinstance(given, str | Path) else Document("config", 0, dict(given))
