"""The records of pods: who lives, under which name and which owner, and who went."""

from __future__ import annotations

import pytest

from bayplan.errors import NotFoundError
from bayplan.objects.pod import Pod
from bayplan.simulator.pod_records import EVICTED, PodRecords
from tests.simulator.support import objects, owned_by, pod


def made(name: str, uid: str) -> Pod:
    (found,) = (
        each
        for each in objects(pod(name, meta={"uid": uid, "ownerReferences": owned_by("ReplicaSet", "web")}))
        if isinstance(each, Pod)
    )
    return found


def test_a_pod_made_anew_under_a_name_is_another_pod() -> None:
    records = PodRecords()
    first = records.add(made("web-0", "u1"), 0.0)
    first.ended = EVICTED
    records.end(first)
    assert records.named("default/web-0") is None
    second = records.add(made("web-0", "u2"), 5.0, instead_of=first)
    assert (second.replaces, second.evictions, second.lineage) == ("u1", 1, "u2")
    assert records.same(first.pod) is None
    with pytest.raises(NotFoundError, match='pods "web-0" not found'):
        records.found(first.pod)
    assert [each.is_gone for each in records.all.values()] == [True, False]


def test_pods_are_found_by_who_looks_after_them() -> None:
    records = PodRecords()
    one, other = records.add(made("web-0", "u1"), 0.0), records.add(made("web-1", "u2"), 0.0)
    assert records.owned("ReplicaSet", "default", "web") == [one, other]
    records.end(one)
    assert records.owned("ReplicaSet", "default", "web") == list(records.living()) == [other]
    assert records.owned("ReplicaSet", "other", "web") == []
