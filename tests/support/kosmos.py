"""The kinds of group kosmos.io on the real control plane, and the manifests of examples/workload-policy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import yaml

from bayplan.app.installing import manifests
from tests.support.api import Api, ApiError, Object

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
    documents = list(yaml.safe_load_all(manifests("crds")))
    for document in documents:
        api.create(document)
    for kind in KINDS:
        api.wait_for(partial(_is_served, api, kind), 20, f"{kind} to be served")
    try:
        yield
    finally:
        for document in reversed(documents):
            api.delete(document["kind"], document["metadata"]["name"])
        for kind in KINDS:
            api.wait_for(partial(_is_gone, api, kind), 20, f"{kind} to be gone")


def _is_served(api: Api, kind: str) -> bool:
    try:
        api.list(kind)
    except ApiError as error:
        if error.code != 404:
            raise
        return False
    return True


def _is_gone(api: Api, kind: str) -> bool:
    return not _is_served(api, kind)
