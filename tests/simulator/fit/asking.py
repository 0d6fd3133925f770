"""Clusters and kinds of pods in one line each, for the tests of ``simulator.fit``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from bayplan.objects.meta import ApiObject
from bayplan.simulator.fit.gang import Gang, gang_among
from bayplan.simulator.fit.more_pods import Kind, kind_among
from bayplan.simulator.loading import Given, documents_of, load
from bayplan.simulator.what_if import reading
from tests.simulator.support import Manifest


def read(manifests: Sequence[Manifest], *asked: Manifest) -> tuple[Given, Kind]:
    """A cluster, and the pod or workload it is about."""
    given, coming = _read(manifests, asked)
    return given, kind_among(coming, "pod.yaml")


def read_gang(manifests: Sequence[Manifest], *asked: Manifest, count: int | None = None) -> tuple[Given, Gang]:
    """A cluster, and the pods that are wanted together."""
    given, coming = _read(manifests, asked)
    return given, gang_among(coming, "pod.yaml", count)


def _read(manifests: Sequence[Manifest], asked: Sequence[Manifest]) -> tuple[Given, list[ApiObject]]:
    more = [reading._marked(each) for each in documents_of(asked)]
    given = load([*documents_of(manifests), *more])
    return dataclasses.replace(given, later=[]), reading.coming(given)
