"""Clusters and kinds of pods in one line each, for the tests of ``simulator.fit``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from bayplan.simulator.fit.more_pods import Kind, kind_among
from bayplan.simulator.loading import Given, documents_of, load
from bayplan.simulator.what_if import reading
from tests.simulator.support import Manifest


def read(manifests: Sequence[Manifest], *asked: Manifest) -> tuple[Given, Kind]:
    """A cluster, and the pod or workload it is about."""
    more = [reading._marked(each) for each in documents_of(asked)]
    given = load([*documents_of(manifests), *more])
    return dataclasses.replace(given, later=[]), kind_among(reading.coming(given), "pod.yaml")
