"""The policy comes from a file, a ConfigMap or nowhere; changes are noticed, mistakes are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from bayplan.app.annotator.policy_source import PolicySource
from bayplan.errors import ConfigError, InputError, NotFoundError, TransportError
from bayplan.kube.client import Client
from bayplan.objects.third_party.crane import published_policy

TEXT = """\
apiVersion: scheduler.policy.crane.io/v1alpha1
kind: DynamicSchedulerPolicy
spec:
  syncPolicy: [{name: cpu, period: 3m}]
"""


class FakeClient:
    """Answers with a ConfigMap, or fails."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def get(self, path: str) -> Any:
        self.asked.append(path)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def client(answer: Any = None) -> Client:
    return cast(Client, FakeClient(answer))


async def test_without_a_source_it_is_the_published_policy_for_ever() -> None:
    source = PolicySource()
    source.check()
    assert await source.read(client()) == published_policy()
    assert await source.changed(client()) is None


async def test_a_file_is_told_only_when_it_says_something_else(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(TEXT)
    source = PolicySource(str(file))
    source.check()
    assert (await source.read(client())).periods == {"cpu": 180}
    file.write_text(f"# a comment\n{TEXT}")
    assert await source.changed(client()) is None
    file.write_text(TEXT.replace("3m", "5m"))
    changed = await source.changed(client())
    assert changed is not None
    assert changed.periods == {"cpu": 300}
    file.write_text(TEXT.replace("3m", "soon"))
    with pytest.raises(InputError, match="is not a duration"):
        await source.changed(client())
    file.write_text(TEXT.replace("3m", "5m"))
    assert await source.changed(client()) is None


@pytest.mark.parametrize(("name", "data"), [("space/policy", {"any": TEXT}), ("space/policy/b", {"a": "", "b": TEXT})])
async def test_a_config_map_is_read_by_name_and_key(name: str, data: dict[str, str]) -> None:
    asked = FakeClient({"data": data})
    source = PolicySource(config_map=name)
    source.check()
    assert (await source.read(cast(Client, asked))).periods == {"cpu": 180}
    assert asked.asked == ["/api/v1/namespaces/space/configmaps/policy"]


async def test_a_config_map_that_is_not_there_is_told_by_name() -> None:
    source = PolicySource(config_map="space/policy")
    with pytest.raises(InputError, match="ConfigMap space/policy: cannot be read: not found; check its name"):
        await source.read(client(NotFoundError(404, "not found")))


async def test_an_api_server_that_is_away_changes_nothing() -> None:
    source = PolicySource(config_map="space/policy")
    await source.read(client({"data": {"p": TEXT}}))
    assert await source.changed(client(TransportError("refused"))) is None


@pytest.mark.parametrize("name", ["policy", "a/b/c/d", "a/", "/b", "a//c"])
def test_a_name_that_is_none_is_refused_with_what_to_write(name: str) -> None:
    with pytest.raises(ConfigError, match="is not a ConfigMap; write NAMESPACE/NAME or NAMESPACE/NAME/KEY"):
        PolicySource(config_map=name).check()


def test_there_can_be_only_one_source() -> None:
    with pytest.raises(ConfigError, match="there is a file already; remove one of the two"):
        PolicySource("file", "a/b").check()
