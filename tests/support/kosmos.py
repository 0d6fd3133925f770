"""The kinds of group kosmos.io on the real control plane, and the manifests of examples/workload-policy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from bayplan.app.install_manifests import manifests
from tests.support.api import Api, Object
from tests.support.definitions import defined

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "workload-policy"
KINDS = ("WorkloadPolicy", "DistributionPolicy", "ClusterDistributionPolicy")


def example(name: str) -> Object:
    """The one document of an example file."""
    (document,) = yaml.safe_load_all((EXAMPLES / name).read_text())
    return dict(document)


def example_nodes() -> list[Object]:
    return list(yaml.safe_load_all((EXAMPLES / "nodes.yaml").read_text()))


@contextmanager
def installed(api: Api) -> Iterator[None]:
    """What ``bayplan manifests crds`` prints, applied and served, until the end of the block."""
    with defined(api, list(yaml.safe_load_all(manifests("crds"))), KINDS):
        yield
