"""What is right to begin with: the examples, the shipped configurations, and random clusters of every kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from bayplan.errors import InputError
from bayplan.objects.files import manifests
from tests.objects.random_objects import MAKERS, ObjectMaker

ROOT = Path(__file__).parents[2]
CONFIG = "KubeSchedulerConfiguration"
PROFILED = {"bayplan.io/usage": "cpu=100m", "simulation.bayplan.io/usage": "0s: cpu=100m"}
Document = dict[str, Any]


@dataclass(frozen=True)
class Seed:
    """Documents, and the command that takes them; FILE, CONFIG and POLICY stand for what is written to disk."""

    command: tuple[str, ...]
    documents: tuple[Document, ...]
    config: tuple[Document, ...] = ()
    policy: tuple[Document, ...] = ()


@lru_cache(maxsize=1)
def fixed() -> list[Seed]:
    """A seed for every example and configuration there is, and the ways to ask about it."""
    configs, policies, bundles = _found()
    made = []
    for folder, documents in bundles.items():
        pods = [each for each in documents if each.get("kind") == "Pod"]
        if any(each.get("kind") == "Placement" for each in documents):
            made += [Seed(("place", "-f", "FILE", "-o", shape), documents) for shape in ("table", "json")]
            made.append(Seed(("place", "-f", "FILE", "--without", "region=eu"), documents))
            continue
        made.append(Seed(("simulate", "-f", "FILE"), documents))
        made.append(Seed(("simulate", "-f", "FILE", "--for", "20m", "-o", "json"), documents))
        made.append(Seed(("simulate", "-f", "FILE", "--explain"), documents))
        if pods:
            made.append(Seed(("explain", "pod", pods[0]["metadata"].get("name", "x"), "-f", "FILE"), documents))
        made += [Seed(("simulate", "-f", "FILE", "--config", "CONFIG"), documents, (each,)) for each in configs]
        if "sticky" in folder:
            made.append(Seed(("sticky", "list", "-f", "FILE"), documents))
        if "load" in folder:
            dynamic = _with_policy_file(configs)
            made += [Seed(("simulate", "-f", "FILE", "--config", "CONFIG"), documents, (dynamic,), (each,))
                     for each in policies]  # fmt: skip
    return made


def _found() -> tuple[list[Document], list[Document], dict[str, tuple[Document, ...]]]:
    configs: list[Document] = []
    policies: list[Document] = []
    bundles: dict[str, list[Document]] = {}
    for path in sorted([*ROOT.glob("examples/**/*.yaml"), *ROOT.glob("deploy/**/*.yaml")]):
        try:
            documents = [each.raw for each in manifests.read([path])]
        except InputError:
            continue  # an example of something else, such as rules for Prometheus
        for each in documents:
            if each.get("kind") == CONFIG:
                configs.append(each)
            elif each.get("kind") == "DynamicSchedulerPolicy":
                policies.append(each)
            elif path.is_relative_to(ROOT / "examples"):
                bundles.setdefault(path.parent.name, []).append(each)
    return configs, policies, {folder: tuple(each) for folder, each in bundles.items()}


def _with_policy_file(configs: list[Document]) -> Document:
    first = configs[0]
    dynamic = {"name": "Dynamic", "args": {"policyConfigPath": "POLICY"}}
    profile = {"schedulerName": "default-scheduler", "plugins": {"multiPoint": {"enabled": [{"name": "Dynamic"}]}},
               "pluginConfig": [dynamic]}  # fmt: skip
    return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": first["kind"], "profiles": [profile]}


def random_seed(rng: Random) -> Seed:
    """A few random objects of every kind around two nodes."""
    maker = ObjectMaker(rng.randrange(10**9))
    kinds = [rng.choice([*MAKERS]) for _ in range(rng.randint(1, 5))]
    documents = [_apart(maker.object(kind), f"x{number}") for number, kind in enumerate(["Node", "Pod", *kinds])]
    if rng.random() < 0.3:
        kept = rng.choice(["simulation.bayplan.io/at", "simulation.bayplan.io/until", "simulation.bayplan.io/usage"])
        rng.choice(documents)["metadata"]["annotations"] = {kept: rng.choice(["5m", "-5m", "soon", "1h", "0s", ""])}
    command = rng.choice([("simulate", "-f", "FILE"), ("simulate", "-f", "FILE", "--for", "10m", "-o", "yaml"),
                          ("explain", "pod", "x1", "-f", "FILE", "-o", "json")])  # fmt: skip
    return Seed(command, tuple(documents))


def _apart(document: Document, name: str) -> Document:
    document["metadata"] = {**document["metadata"], "name": name}
    return document
