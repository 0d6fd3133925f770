"""What a profile may set under ``deviceScore`` in the args of DynamicResources, with the checks."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from pydantic import Field, field_validator, model_validator

from bayplan.framework import PluginArgs
from bayplan.objects.admission.device_names import attribute as mistakes_in_name

RuleType: TypeAlias = Literal["Pack", "Spread", "Tightest", "Together"]

PACK: Final = "Pack"
SPREAD: Final = "Spread"
TIGHTEST: Final = "Tightest"
TOGETHER: Final = "Together"

STEPS: Final = 1000


class RuleArgs(PluginArgs):
    """What is preferred, and how much that counts beside the other rules."""

    type: RuleType
    weight: int = Field(1, ge=1, le=100)
    attribute: str | None = None
    """Of Together: devices that have the same value are neighbours."""

    @field_validator("attribute")
    @classmethod
    def _is_a_name(cls, name: str | None) -> str | None:
        if name is None:
            return None
        if name.count("/") > 1:
            raise ValueError(f'"{name}" has more than one "/"; write domain/name, such as example.com/nvlink')
        for error in mistakes_in_name("", name, with_domain=True):
            raise ValueError(str(error).removeprefix(": "))
        return name

    @model_validator(mode="after")
    def _has_its_attribute(self) -> RuleArgs:
        if self.type == TOGETHER and self.attribute is None:
            raise ValueError(f"type {TOGETHER} needs an attribute; add one, such as resource.kubernetes.io/pcieRoot")
        if self.type != TOGETHER and self.attribute is not None:
            raise ValueError(f"type {self.type} takes no attribute; remove it")
        return self

    @property
    def name(self) -> str:
        return self.type if self.attribute is None else f"{self.type} {self.attribute}"


class DeviceScoreArgs(PluginArgs):
    """The rules, and how long a search for better devices may be."""

    rules: tuple[RuleArgs, ...]
    search_steps: int = Field(STEPS, ge=1, le=1_000_000)

    @field_validator("rules")
    @classmethod
    def _can_hold_together(cls, rules: tuple[RuleArgs, ...]) -> tuple[RuleArgs, ...]:
        if not rules:
            raise ValueError("needs at least one rule, such as {type: Tightest}; or leave deviceScore out")
        names = [rule.name for rule in rules]
        if PACK in names and SPREAD in names:
            raise ValueError(f"{PACK} and {SPREAD} want the opposite; remove one")
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"{name} is there {names.count(name)} times; write it once, with a weight")
        return rules
