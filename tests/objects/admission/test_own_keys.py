"""Annotations and labels of our own domain: one that nobody reads is a mistake, and says which one was meant."""

from __future__ import annotations

import pytest
import yaml

from bayplan.errors import InputError
from bayplan.objects.admission import own_keys
from bayplan.objects.files import loading, manifests

POD = "{{apiVersion: v1, kind: Pod, metadata: {{name: a, {meta}}}, spec: {{containers: [{{name: c, image: i}}]}}}}"
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {{name: a, {meta}}}
spec:
  selector: {{matchLabels: {{app: a}}}}
  template: {{metadata: {{labels: {{app: a}}, {template}}}, spec: {{containers: [{{name: c, image: i}}]}}}}
"""
PLACEMENT = "{{apiVersion: cluster.open-cluster-management.io/v1beta1, kind: Placement, metadata: {{name: a, {meta}}}}}"


def pod(meta: str) -> str:
    return POD.format(meta=meta)


WRONG = [
    (
        pod("annotations: {simulation.bayplan.io/usgae: cpu=2}"),
        "metadata.annotations[simulation.bayplan.io/usgae]: nobody reads it, and bayplan.io is for keys that are read; "
        'did you mean "simulation.bayplan.io/usage"?',
    ),
    (pod("annotations: {bayplan.io/rebalence: 'false'}"), 'did you mean "bayplan.io/rebalance"?'),
    (pod("annotations: {bayplan.io/rebalance: 'no'}"), '"no" is not possible here; write true or false instead'),
    (pod("labels: {bayplan.io/capacity: spar}"), '"spar" is not possible here; write spare instead'),
    (pod("labels: {bayplan.io/capcity: spare}"), 'did you mean "bayplan.io/capacity"?'),
    (pod("annotations: {bayplan.io/capacity: spare}"), "write it under metadata.labels"),
    (pod("labels: {simulation.bayplan.io/arrives: 5m}"), "write it under metadata.annotations"),
    (pod("annotations: {other.bayplan.io/qqqqqqqqqqqqqqqqqqqqqqqqqq: a}"), "remove it, or use a domain of your own"),
    (
        DEPLOYMENT.format(meta="annotations: {simulation.bayplan.io/usage: cpu=2}", template=""),
        "metadata.annotations[simulation.bayplan.io/usage]: nobody reads it on a Deployment; "
        "write it under spec.template.metadata.annotations",
    ),
    (
        DEPLOYMENT.format(meta="", template="annotations: {simulation.bayplan.io/arives: 5m}"),
        "spec.template.metadata.annotations[simulation.bayplan.io/arives]: nobody reads it",
    ),
    (
        DEPLOYMENT.format(meta="", template="annotations: {simulation.bayplan.io/at: 5m}"),
        "a pod of a workload cannot change; write simulation.bayplan.io/arrives",
    ),
    (PLACEMENT.format(meta="annotations: {placement.bayplan.io/sprad: a}"), 'mean "placement.bayplan.io/spread"?'),
    (PLACEMENT.format(meta="annotations: {simulation.bayplan.io/usage: a}"), "write it on a Pod or a Node"),
]


def load(text: str) -> loading.Loaded:
    return loading.load([manifests.Document("a.yaml", 1, yaml.safe_load(text))])


@pytest.mark.parametrize(("text", "told"), WRONG, ids=[told[-50:] for _, told in WRONG])
def test_a_key_that_nobody_would_read_is_told(text: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        load(text)
    (line,) = str(caught.value).splitlines()
    assert line.startswith("a.yaml:1: ")
    assert told in line


def test_keys_that_are_read_and_keys_of_others_are_fine() -> None:
    for meta in (
        "annotations: {simulation.bayplan.io/usage: cpu=2, example.com/bayplan.io: a, notbayplan.io/usgae: a}",
        "labels: {bayplan.io/capacity: spare, app: bayplan.io}",
        "annotations: {bayplan.io/sticky-node-0: n1}",
    ):
        assert load(pod(meta)).warnings == []


def test_of_a_servers_objects_it_is_a_warning() -> None:
    (warning,) = load(pod("uid: u1, annotations: {simulation.bayplan.io/usgae: cpu=2}")).warnings
    assert 'did you mean "simulation.bayplan.io/usage"?' in warning


def test_every_key_is_of_our_domain() -> None:
    for key in (*own_keys.ANNOTATIONS, *own_keys.LABELS):
        assert key.partition("/")[0].endswith(own_keys.DOMAIN)
