"""
Pods of one template share a spec and what was worked out for it; nothing else is mixed up.
"""

from __future__ import annotations

import msgspec

from bayplan.engine.pod_templates import PodTemplates
from bayplan.objects.pod import Pod, Volume
from bayplan.testing import pod


def with_volumes(name: str, *volumes: Volume) -> Pod:
    plain = pod(name).build()
    return plain.evolve(spec=msgspec.structs.replace(plain.spec, volumes=volumes))


def test_pods_of_one_template_share_their_spec_and_sums() -> None:
    templates = PodTemplates()

    first = templates.shared(pod("a").cpu("500m").label(app="web").build())
    second = templates.shared(pod("b").cpu("500m").label(app="web").build())

    assert second.spec is first.spec
    assert second.template is first.template
    assert second.requests is first.requests
    assert (second.name, second.uid) != (first.name, first.uid)


def test_other_requests_labels_namespaces_or_owners_are_other_templates() -> None:
    templates = PodTemplates()
    base = pod("a").cpu("500m").label(app="web")
    first = templates.shared(base.build())

    others = [base.cpu("1"), base.label(app="db"), base.namespace("shop"), base.owned_by("ReplicaSet", "web")]

    for other in others:
        shared = templates.shared(other.build())
        assert shared.spec is not first.spec
        assert shared.requests == other.build().requests
        assert shared.label_set == other.build().label_set


def test_volumes_nobody_looks_at_do_not_tell_pods_apart() -> None:
    templates = PodTemplates()
    token_a = Volume(name="kube-api-access-aaaaa")
    token_b = Volume(name="kube-api-access-bbbbb")
    disk = with_volumes("c", Volume(name="data", csi=None, host_path={}), token_a)

    first = templates.shared(with_volumes("a", token_a))
    second = templates.shared(with_volumes("b", token_b))

    assert second.spec is first.spec
    assert templates.shared(disk).spec is first.spec
