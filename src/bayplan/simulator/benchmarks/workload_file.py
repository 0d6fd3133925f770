"""
Workload files: what to make, in which order, and from when to measure, as ``bayplan bench`` and ``benchmarks`` read it.

A file has sizes and steps; each step is one word with its settings.  ``engine_speed`` runs the steps on the engine in
memory, ``benchmarks.running`` on a real API server.  The shipped files are in ``workloads/`` beside this module.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from bayplan.errors import InputError, InputErrors
from bayplan.framework.config.mistakes import did_you_mean, found_by_pydantic, shown
from bayplan.objects.files import yaml_reading
from bayplan.objects.files.file_reading import text_of

FOLDER = Path(__file__).with_name("workloads")
SUFFIXES = (".yaml", ".yml")

Manifest = dict[str, Any]
MOST = 10_000_000
"""Of anything; more is a slip of the pen, and would fill memory."""

_COUNT = re.compile(r"(\d+)|(nodes|pods)(?: *([*/]) *([1-9]\d*))?")


def _checked_count(written: object) -> str:
    found = _COUNT.fullmatch(str(written))
    if not found:
        raise ValueError(f"{shown(written)} is no count; write a number, nodes, pods, or a share such as pods / 10")
    number, _, _, factor = found.groups()
    if int(number or factor or 0) > MOST:
        raise ValueError(f"{shown(written)} is too many; write at most {MOST}")
    return str(written)


def _checked_template(written: Manifest) -> Manifest:
    for part in ("metadata", "spec", "status"):
        if not isinstance(written.get(part, {}), dict):
            raise ValueError(f"{part} is {shown(written[part])}; write a mapping")
    return written


Count = Annotated[str, BeforeValidator(_checked_count)]
"""A number, or a size of the run: ``nodes``, ``pods``, ``pods / 10``, ``nodes * 2``."""
Template = Annotated[Manifest, AfterValidator(_checked_template)]
"""An object, or what is laid over the usual one."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class CreateNodes(_Part):
    """Nodes ``node-0`` and on; the template is laid over the usual node."""

    count: Count = "nodes"
    template: Template = Field(default_factory=dict)


class CreateObjects(_Part):
    """Anything else a pod may need: Services, claims, classes."""

    count: Count = "1"
    template: Template


class CreatePods(_Part):
    """Pods, each of the next template in turn, laid over the usual pod.  With ``nodeName`` they run from the start."""

    name: str = "pod"
    count: Count = "pods"
    atMost: Count | None = None
    templates: list[Template] = Field(default=[{}], min_length=1)
    pending: bool = False
    """They are not to be bound, whatever happens."""


class Churn(_Part):
    """From the next measurement on, one object more for every so many pods that are bound."""

    name: str = "churn"
    everyPods: int = Field(gt=0)
    template: Template = Field(default_factory=dict)
    """Of a pod unless it has a kind."""
    recreate: bool = False
    """The one before goes when the next one comes."""


class Delete(_Part):
    """Delete the pods of an earlier step: at once, or one for every so many pods that are bound while measuring."""

    name: str
    everyPods: int | None = Field(default=None, gt=0)


class Barrier(_Part):
    """Let the scheduler run until every pod made so far is bound; nothing of that is measured."""


class Measure(_Part):
    """Let the scheduler run until every pod made so far is bound, and measure that.  Nothing comes after it."""


Action = CreateNodes | CreateObjects | CreatePods | Churn | Delete | Barrier | Measure


class Step(_Part):
    """One word and its settings."""

    createNodes: CreateNodes = CreateNodes()
    createObjects: CreateObjects = CreateObjects(template={})
    createPods: CreatePods = CreatePods()
    churn: Churn = Churn(everyPods=1)
    delete: Delete = Delete(name="")
    barrier: Barrier = Barrier()
    measure: Measure = Measure()

    @model_validator(mode="after")
    def _is_one_thing(self) -> Step:
        if len(self.model_fields_set) != 1:
            raise ValueError(f"a step is one of {', '.join(type(self).model_fields)}; begin the next with a dash")
        return self

    @property
    def action(self) -> Action:
        (word,) = self.model_fields_set
        action: Action = getattr(self, word)
        return action


class Sizes(_Part):
    """How large a run is unless its command says otherwise."""

    nodes: int = Field(default=5000, gt=0, le=MOST)
    pods: int = Field(default=5000, gt=0, le=MOST)

    def count(self, written: Count) -> int:
        """What a count of the file comes to; a share of something is at least one."""
        found = _COUNT.fullmatch(str(written))
        assert found is not None, written
        number, size, sign, factor = found.groups()
        if number is not None:
            return int(number)
        value: int = getattr(self, size)
        if sign == "*":
            return value * int(factor)
        return max(1, value // int(factor)) if sign else value


class Workload(_Part):
    """A file: what it is about, how large, and its steps."""

    name: str = ""
    source: str = ""
    about: str
    sizes: Sizes = Sizes()
    steps: list[Step]

    @model_validator(mode="after")
    def _can_be_run(self) -> Workload:
        measures = [isinstance(action, Measure) for action in self.actions]
        if sum(measures) != 1 or not measures[-1]:
            raise ValueError("steps: the last one, and no other, must be measure; write - measure: {}")
        made: set[str] = set()
        for action in self.actions:
            if isinstance(action, CreatePods | Churn):
                if action.name in made:
                    raise ValueError(f'steps: two make pods named "{action.name}"; give one of them another name')
                made.add(action.name)
            elif isinstance(action, Delete) and action.name not in made:
                raise ValueError(
                    f'steps: delete: no earlier step makes "{action.name}"{did_you_mean(action.name, made)}'
                )
        return self

    @property
    def actions(self) -> list[Action]:
        return [step.action for step in self.steps]

    def sized(self, nodes: int | None = None, pods: int | None = None) -> Sizes:
        """The sizes of a run; what is not given is as the file says."""
        return Sizes(nodes=nodes or self.sizes.nodes, pods=pods or self.sizes.pods)


# -- reading --


@cache
def shipped() -> dict[str, Path]:
    """The workloads that come with Bayplan, by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.yaml"))}


def find(word: str, others: tuple[str, ...] = ()) -> Workload:
    """A shipped workload by name, or one in a file; ``others`` are names that somebody else knows."""
    if word.endswith(SUFFIXES):
        return read(Path(word))
    if word not in shipped():
        known = (*shipped(), *others)
        hint = did_you_mean(word, known) or f"; there are {', '.join(known)}"
        raise InputError(f'there is no workload "{word}"{hint}')
    return read(shipped()[word])


def read(path: Path) -> Workload:
    """The workload of a file; ``InputError`` with a line for every mistake."""
    found = [*yaml_reading.documents(text_of(path), str(path))]
    if len(found) != 1 or not isinstance(found[0].value, dict):
        problem = f"a workload is one mapping, and there are {len(found)} documents"
        raise InputError(problem if len(found) != 1 else "a workload is a mapping", source=str(path),
                         fix="write about, sizes and steps")  # fmt: skip
    for own in ("name", "source"):
        if own in found[0].value:
            raise InputError("the name of the file says it", source=str(path), field=own, fix="remove it")
    try:
        return Workload.model_validate({**found[0].value, "name": path.stem, "source": str(path)})
    except ValidationError as error:
        mistakes = [
            InputError(each.text, source=str(path), field=each.path) for each in found_by_pydantic(error, Workload)
        ]
        raise mistakes[0] if len(mistakes) == 1 else InputErrors(mistakes) from None
