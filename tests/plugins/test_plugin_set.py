"""Which plugins a run has: the in-tree ones, those of packages, those named by --plugin; and the profiles of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bayplan.errors import ConfigError, UnknownPluginError
from bayplan.framework.config.loading import load_config
from bayplan.framework.config.model import SchedulerConfig
from bayplan.plugins import IN_TREE
from bayplan.plugins.defaults import DEFAULT_PLUGINS
from bayplan.plugins.plugin_set import make_profiles, mistakes_of, registry

OWN = """\
from bayplan.framework import ScorePlugin


class Likes(ScorePlugin):
    name = "Likes"

    def score_node(self, state, pod, node):
        return 1
"""


def config(**profile: Any) -> SchedulerConfig:
    raw = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return load_config({**raw, "profiles": [{"schedulerName": "mine", **profile}]}, "config.yaml")[0]


@pytest.fixture
def own(tmp_path: Path) -> str:
    path = tmp_path / "likes.py"
    path.write_text(OWN)
    return f"{path}:Likes"


def no_handle(name: str) -> Any:
    return None


def test_every_plugin_of_bayplan_is_registered_and_every_default_exists() -> None:
    known, extra = registry(discover=False)
    assert known.names == tuple(cls.name for cls in IN_TREE)
    assert extra == ()
    assert {default.name for default in DEFAULT_PLUGINS} <= set(known.names)


def test_plugins_that_are_named_come_on_top(own: str) -> None:
    known, extra = registry([own], discover=False)
    assert extra == ("Likes",)
    assert known.origin("Likes") == f"--plugin {own}"


def test_a_named_plugin_joins_every_profile_that_does_not_mention_it(own: str) -> None:
    known, extra = registry([own], discover=False)
    profile = make_profiles(config(), known, extra)(no_handle)["mine"]
    assert profile.weights["Likes"] == 1
    off = config(plugins={"score": {"disabled": [{"name": "Likes"}]}})
    assert "Likes" not in make_profiles(off, known, extra)(no_handle)["mine"].weights


def test_each_profile_is_made_with_its_own_handle() -> None:
    known, _ = registry(discover=False)
    asked: list[str] = []
    make_profiles(config(), known)(lambda name: asked.append(name))  # type: ignore[arg-type, return-value]
    assert asked == ["mine"]


def test_warnings_are_told_when_the_profiles_are_made() -> None:
    known, _ = registry(discover=False)
    told: list[str] = []
    make = make_profiles(config(plugins={"score": {"disabled": [{"name": "Nix"}]}}), known, warn=told.append)
    assert told == []
    make(no_handle)
    assert told == ['config.yaml: profiles[0].plugins.score.disabled[0].name: there is no plugin "Nix" to disable']


def test_unknown_plugins_and_modules_are_refused(own: str) -> None:
    known, _ = registry(discover=False)
    with pytest.raises(UnknownPluginError, match='did you mean "NodePorts"'):
        make_profiles(config(plugins={"filter": {"enabled": [{"name": "NodePort"}]}}), known)(no_handle)
    with pytest.raises(ConfigError, match="no module"):
        registry(["nowhere.at_all:Likes"], discover=False)


def test_mistakes_of_shape_names_and_args_are_told_together() -> None:
    raw = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "parallelism": 0,
        "profiles": [
            {
                "plugins": {"score": {"enabled": [{"name": "NodeResourceFit"}]}},
                "pluginConfig": [{"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 200}}],
            }
        ],
    }

    with pytest.raises(ConfigError) as raised:
        load_config(raw, "wrong.yaml", mistakes_of(registry(discover=False)))

    lines = str(raised.value).splitlines()
    assert len(lines) == 3
    assert "parallelism" in lines[0]
    assert 'did you mean "NodeResourcesFit"?' in lines[1]
    assert "hardPodAffinityWeight" in lines[2]
