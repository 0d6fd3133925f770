"""What is right to begin with: examples, shipped configurations and workloads, and random clusters of every kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import yaml

from bayplan.errors import InputError
from bayplan.objects.files import manifests
from bayplan.simulator.benchmarks import workload_file
from tests.objects.random_objects import MAKERS, ObjectMaker
from tests.parity.generating import generate
from tests.parity.generating.device_style import FIRST_DEVICE_SEED

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
    made = [*_benchmarks()]
    for folder, documents in bundles.items():
        pods = [each for each in documents if each.get("kind") == "Pod"]
        if any(each.get("kind") == "Placement" for each in documents):
            made += [Seed(("place", "-f", "FILE", "-o", shape), documents) for shape in ("table", "json")]
            made.append(Seed(("place", "-f", "FILE", "--without", "region=eu"), documents))
            continue
        made.append(Seed(("simulate", "-f", "FILE"), documents))
        made.append(Seed(("simulate", "-f", "FILE", "--for", "20m", "-o", "json"), documents))
        made.append(Seed(("simulate", "-f", "FILE", "--explain"), documents))
        made += [
            Seed(("simulate", "-f", "FILE", *options), documents) for options in (("--summary",), ("-o", "manifests"))
        ]
        deployments = [each["metadata"]["name"] for each in documents if each.get("kind") == "Deployment"]
        made += [Seed(("explain", f"deployment/{name}", "-f", "FILE"), documents) for name in deployments[:1]]
        if any(each.get("kind") == "WorkloadPolicy" for each in documents):
            made.append(Seed(("rebalancer", "--dry-run", "-f", "FILE"), documents))
            made += [Seed(("rebalancer", "--dry-run", "-f", "FILE", "--config", "CONFIG", "-o", "json"), documents, (each,))
                     for each in configs]  # fmt: skip
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


def _benchmarks() -> list[Seed]:
    """The workloads that come with Bayplan, in small."""
    command = ("bench", "FILE", "--nodes", "12", "--pods", "12")
    return [Seed(command, (yaml.safe_load(path.read_text()),)) for path in workload_file.shipped().values()]


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


def whole_seed(rng: Random) -> Seed:
    """A cluster whose objects belong together: volumes with their claims, devices with their classes, pods that want them."""
    first = rng.choice((0, FIRST_DEVICE_SEED))
    made = generate(first + rng.randrange(3000))
    claims = [each for own in made.own_claims.values() for each in own]
    pods = rng.sample(made.pending, min(4, len(made.pending)))
    about, namespace = pods[0]["metadata"], pods[0]["metadata"].get("namespace", "default")
    command = rng.choice([("simulate", "-f", "FILE"), ("simulate", "-f", "FILE", "--for", "10m", "-o", "json"),
                          ("explain", "pod", about["name"], "-n", namespace, "-f", "FILE")])  # fmt: skip
    return Seed(command, (*made.objects, *claims, *made.bound, *pods))


def _apart(document: Document, name: str) -> Document:
    document["metadata"] = {**document["metadata"], "name": name}
    return document
