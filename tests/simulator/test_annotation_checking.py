"""Annotations for simulations that cannot be read are all told, with file, line, object and field."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayplan.errors import InputError
from bayplan.simulator.annotation_checking import annotation_mistakes
from bayplan.simulator.loading import read

MANIFEST = """\
apiVersion: v1
kind: Node
metadata: {name: n1, annotations: {simulation.bayplan.io/usage: cpu=-1}}
---
apiVersion: v1
kind: Pod
metadata: {name: p, annotations: {simulation.bayplan.io/arrives: soon, simulation.bayplan.io/interval: -5m}}
spec: {containers: [{name: c, image: web}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {simulation.bayplan.io/usage: gpu=1}}
    spec: {containers: [{name: c, image: web}]}
"""


def test_every_one_is_told_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "load.yaml"
    file.write_text(MANIFEST)
    with pytest.raises(InputError) as caught:
        read([file])
    lines = [line.removeprefix(f"{file}:") for line in str(caught.value).splitlines()]
    assert [line.partition("]: ")[0] for line in lines] == [
        "1: Node n1: metadata.annotations[simulation.bayplan.io/usage",
        "5: Pod p: metadata.annotations[simulation.bayplan.io/arrives",
        "5: Pod p: metadata.annotations[simulation.bayplan.io/interval",
        "10: Deployment web: spec.template.metadata.annotations[simulation.bayplan.io/usage",
    ]
    assert lines[2].endswith('"-5m" is before the simulation begins; write 0s or more')


def test_what_can_be_read_is_no_mistake() -> None:
    good = {"simulation.bayplan.io/usage": "0s: cpu=1; 5m: memory=1Gi", "simulation.bayplan.io/arrives": "5m"}
    assert list(annotation_mistakes(good)) == []
