"""What a profile may set for VolumeBinding."""

from __future__ import annotations

import pytest

from bayplan.errors import InvalidArgsError
from bayplan.framework.args import load_args
from bayplan.plugins.volume_binding import VolumeBinding


def test_without_args_it_waits_ten_minutes() -> None:
    assert load_args(VolumeBinding, None, "args").bind_timeout_seconds == 600


def test_the_timeout_can_be_set_as_in_kube_schedulers_files() -> None:
    raw = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "VolumeBindingArgs", "bindTimeoutSeconds": 30}
    assert load_args(VolumeBinding, raw, "args").bind_timeout_seconds == 30


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"bindTimeoutSeconds": -1}, r"args.bindTimeoutSeconds: "),
        ({"bindTimeoutSeconds": "5m"}, r"args.bindTimeoutSeconds: "),
        ({"shape": [{"utilization": 0, "score": 0}]}, r"args.shape: .*alpha feature .*; remove it"),
        ({"timeout": 5}, r"timeout"),
    ],
)
def test_what_cannot_be_used_is_refused(raw: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidArgsError, match=said):
        load_args(VolumeBinding, raw, "args")


def test_the_engine_waits_longer_than_the_plugin() -> None:
    plugin = VolumeBinding(load_args(VolumeBinding, {"bindTimeoutSeconds": 3600}, "args"))
    assert plugin.pre_bind_timeout_s() > 3600
