"""Plugin args: in-tree models, dataclasses, other models, none, anything; and each mistake with its path."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError, model_validator

from bayplan.errors import InvalidArgsError
from bayplan.framework.args import PluginArgs, load_args
from bayplan.framework.config.duration import Duration
from tests.framework.fakes import plugin

PATH = "profiles[0].pluginConfig[1].args"


class Mode(Enum):
    LEAST = "Least"
    MOST = "Most"


class Resource(PluginArgs):
    name: str
    weight: int = 1


class TreeArgs(PluginArgs):
    bind_timeout_seconds: int = 600
    resources: tuple[Resource, ...] = (Resource(name="cpu"),)
    mode: Mode = Mode.LEAST
    kind_of: Literal["System", "List"] = "System"
    filter_timeout: Duration = 10.0
    share: Annotated[float, Field(gt=0)] = 0.5

    @model_validator(mode="after")
    def _system_has_no_resources(self) -> TreeArgs:
        if self.kind_of == "System" and len(self.resources) > 1:
            raise ValueError("resources need kindOf: List")
        return self


@dataclass(frozen=True, slots=True)
class Point:
    at_most: int
    score: int = 0

    def __post_init__(self) -> None:
        if self.score > 10:
            raise ValueError("score must be at most 10")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadArgs:
    policy_path: str
    cpu_limit: float = 0.65
    json: bool = False
    shape: tuple[Point, ...] = ()
    fallback: Point | None = None
    by_zone: dict[str, list[Point]] = field(default_factory=dict)
    derived: int = field(default=4, init=False)

    def __post_init__(self) -> None:
        if not 0 < self.cpu_limit <= 1:
            raise ValueError(f"cpu_limit must be in (0, 1]: {self.cpu_limit}")


class PlainModel(BaseModel):
    model_config = {"extra": "forbid"}
    some_field: int = 1


TREE = plugin("Tree", "filter", Args=TreeArgs)
LOAD = plugin("Load", "filter", Args=LoadArgs)
PLAIN = plugin("Plain", "filter", Args=PlainModel)
NONE = plugin("None", "filter")
ANY = plugin("Any", "filter", accepts_any_args=True)


@pytest.mark.parametrize(
    ("cls", "raw", "args"),
    [
        (TREE, None, TreeArgs()),
        (TREE, {}, TreeArgs()),
        (TREE, {"bindTimeoutSeconds": None}, TreeArgs()),
        (TREE, {"bindTimeoutSeconds": 5, "mode": "Most"}, TreeArgs(bind_timeout_seconds=5, mode=Mode.MOST)),
        (TREE, {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "TreeArgs"}, TreeArgs()),
        (TREE, {"resources": [{"name": "gpu", "weight": 3}]}, TreeArgs(resources=(Resource(name="gpu", weight=3),))),
        (TREE, {"filterTimeout": "1m30s", "share": 1}, TreeArgs(filter_timeout=90.0, share=1.0)),
        (LOAD, {"policyPath": "/p"}, LoadArgs(policy_path="/p")),
        (LOAD, {"policyPath": "/p", "cpuLimit": 1, "json": True}, LoadArgs(policy_path="/p", cpu_limit=1.0, json=True)),
        (LOAD, {"policyPath": "/p", "kind": "LoadArgs"}, LoadArgs(policy_path="/p")),
        (LOAD, {"policyPath": "/p", "shape": [{"atMost": 1}]}, LoadArgs(policy_path="/p", shape=(Point(1),))),
        (LOAD, {"policyPath": "/p", "fallback": {"atMost": 1}}, LoadArgs(policy_path="/p", fallback=Point(1))),
        (
            LOAD,
            {"policyPath": "/p", "byZone": {"z": [{"atMost": 1}]}},
            LoadArgs(policy_path="/p", by_zone={"z": [Point(1)]}),
        ),
        (PLAIN, {"some_field": 3}, PlainModel(some_field=3)),
        (NONE, None, None),
        (NONE, {}, None),
        (NONE, {"kind": "NoneArgs"}, None),
        (ANY, None, {}),
        (ANY, {"what": ["ever"], "kind": "X"}, {"what": ["ever"], "kind": "X"}),
        (ANY, "just words", "just words"),
    ],
)
def test_args_are_read(cls: Any, raw: Any, args: Any) -> None:
    assert load_args(cls, raw, PATH) == args


@pytest.mark.parametrize(
    ("cls", "raw", "lines"),
    [
        (TREE, [1], [": must be a mapping of Tree's args, not [1]"]),
        (TREE, "words", [": must be a mapping of Tree's args, not \"words\""]),
        (TREE, {"kind": "OtherArgs"}, ['.kind: must be "TreeArgs" or left out, not "OtherArgs"']),
        (TREE, {"bindTimeoutSecond": 1}, ['.bindTimeoutSecond: unknown field; did you mean "bindTimeoutSeconds"?']),
        (TREE, {"bind_timeout_seconds": 1}, ['.bind_timeout_seconds: unknown field; '
                                             'did you mean "bindTimeoutSeconds"?']),
        (TREE, {"bindTimeoutSeconds": "5"}, ['.bindTimeoutSeconds: must be an integer, not "5"']),
        (TREE, {"bindTimeoutSeconds": True}, [".bindTimeoutSeconds: must be an integer, not true"]),
        (TREE, {"mode": "Some"}, [".mode: must be 'Least' or 'Most', not \"Some\""]),
        (TREE, {"kindOf": "Some"}, [".kindOf: must be 'System' or 'List', not \"Some\""]),
        (TREE, {"share": 0}, [".share: must be greater than 0, not 0"]),
        (TREE, {"filterTimeout": 3}, ['.filterTimeout: 3 is not a duration; write text with a unit, such as "15s"']),
        (TREE, {"resources": [{"nam": "x"}, 7]}, [".resources[0].name: is missing, but required",
                                                  '.resources[0].nam: unknown field; did you mean "name"?',
                                                  ".resources[1]: must be a mapping, not 7"]),
        (TREE, {"resources": [{"name": "a"}, {"name": "b"}]}, [": resources need kindOf: List"]),
        (LOAD, None, [".policyPath: is missing, but required"]),
        (LOAD, {"policyPath": 1, "cpuLimit": "a", "cpuLimt": 1}, [".policyPath: must be a string, not 1",
                                                                  '.cpuLimit: must be a number, not "a"',
                                                                  '.cpuLimt: unknown field; '
                                                                  'did you mean "cpuLimit"?']),
        (LOAD, {"policyPath": "/p", "cpu_limit": 1}, ['.cpu_limit: unknown field; did you mean "cpuLimit"?']),
        (LOAD, {"policyPath": "/p", "derived": 1}, [".derived: unknown field; known here: policyPath, cpuLimit, "
                                                    "json, shape, fallback, byZone"]),
        (LOAD, {"policyPath": "/p", "cpuLimit": 2}, [": cpu_limit must be in (0, 1]: 2.0"]),
        (LOAD, {"policyPath": "/p", "shape": [{"atMost": 1}, {"atMost": 1, "score": 11}]},
         [".shape[1]: score must be at most 10"]),
        (LOAD, {"policyPath": "/p", "fallback": {"atMos": 1}}, [".fallback.atMost: is missing, but required",
                                                                '.fallback.atMos: unknown field; '
                                                                'did you mean "atMost"?']),
        (PLAIN, {"someField": 1}, ['.someField: unknown field; did you mean "some_field"?']),
        (NONE, {"a": 1, "b": 2}, [': None takes no args; remove "a", "b"']),
    ],
)  # fmt: skip
def test_every_mistake_is_listed_with_its_path(cls: Any, raw: Any, lines: list[str]) -> None:
    with pytest.raises(InvalidArgsError) as caught:
        load_args(cls, raw, PATH)
    assert [line.removeprefix(PATH) for line in str(caught.value).splitlines()] == lines


def test_args_of_a_strange_type_are_the_plugins_fault() -> None:
    with pytest.raises(
        InvalidArgsError, match=r"the type Odd.Args cannot be read: it must be a dataclass or a pydantic"
    ):
        load_args(plugin("Odd", "filter", Args=int), {}, PATH)

    @dataclass
    class Unresolvable:
        what: Nowhere  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(InvalidArgsError, match=r"the type Odd.Args cannot be read: name 'Nowhere' is not defined"):
        load_args(plugin("Odd", "filter", Args=Unresolvable), {}, PATH)


@pytest.mark.parametrize("error", [KeyError("x"), SystemExit(7)])
def test_a_check_that_breaks_is_the_plugins_fault(error: BaseException) -> None:
    @dataclass
    class Checked:
        limit: int = 1

        def __post_init__(self) -> None:
            raise error

    with pytest.raises(InvalidArgsError) as caught:
        load_args(plugin("Odd", "filter", Args=Checked), {}, PATH)
    assert str(caught.value) == f"{PATH}: checking them with Odd.Args failed: {type(error).__name__}: {error}"


def test_in_tree_args_are_made_by_python_name_and_stay_as_they_are() -> None:
    args = TreeArgs(bind_timeout_seconds=7)
    assert args.bind_timeout_seconds == 7
    with pytest.raises(ValidationError):
        args.bind_timeout_seconds = 8  # type: ignore[misc]
