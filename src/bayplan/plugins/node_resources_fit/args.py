"""What a profile may set under ``pluginConfig: NodeResourcesFit``, with the defaults and the checks."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, field_validator, model_validator

from bayplan.framework import PluginArgs
from bayplan.objects.requirement import check_key
from bayplan.objects.resources import CPU, MEMORY

StrategyType: TypeAlias = Literal["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]

LEAST_ALLOCATED: Final = "LeastAllocated"
MOST_ALLOCATED: Final = "MostAllocated"
REQUESTED_TO_CAPACITY_RATIO: Final = "RequestedToCapacityRatio"


class ResourceWeight(PluginArgs):
    """A resource and how much it counts; a weight of 0 is taken as not written."""

    name: str
    weight: Annotated[int, AfterValidator(lambda weight: weight or 1)] = Field(1, ge=0, le=100)


DEFAULT_RESOURCES = (ResourceWeight(name=CPU), ResourceWeight(name=MEMORY))


class ShapePoint(PluginArgs):
    """A point of the scoring curve: how full (percent), and how good that is (0 to 10)."""

    utilization: int = Field(ge=0, le=100)
    score: int = Field(ge=0, le=10)


class Shape(PluginArgs):
    """The scoring curve, straight between its points and flat outside them."""

    shape: tuple[ShapePoint, ...]

    @field_validator("shape")
    @classmethod
    def _rises(cls, points: tuple[ShapePoint, ...]) -> tuple[ShapePoint, ...]:
        if not points:
            raise ValueError("needs at least one point, such as {utilization: 0, score: 10}")
        steps = [point.utilization for point in points]
        if steps != sorted(set(steps)):
            raise ValueError(f"utilization must rise from point to point, but it is {steps}")
        return points


class ScoringStrategy(PluginArgs):
    """How a node's fill is turned into a score."""

    type: StrategyType = LEAST_ALLOCATED
    resources: tuple[ResourceWeight, ...] = DEFAULT_RESOURCES
    requested_to_capacity_ratio: Shape | None = None

    @field_validator("resources")
    @classmethod
    def _never_none(cls, resources: tuple[ResourceWeight, ...]) -> tuple[ResourceWeight, ...]:
        return resources or DEFAULT_RESOURCES

    @model_validator(mode="after")
    def _has_its_curve(self) -> ScoringStrategy:
        if self.type == REQUESTED_TO_CAPACITY_RATIO and self.requested_to_capacity_ratio is None:
            raise ValueError(f"type {self.type} needs requestedToCapacityRatio.shape; add it")
        if self.type != REQUESTED_TO_CAPACITY_RATIO and self.requested_to_capacity_ratio is not None:
            raise ValueError(f"type {self.type} takes no requestedToCapacityRatio; remove it")
        return self


class NodeResourcesFitArgs(PluginArgs):
    """Which extended resources are not looked at, and how nodes are scored."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = ScoringStrategy()

    @field_validator("ignored_resources")
    @classmethod
    def _are_names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            check_key(name)
        return names

    @field_validator("ignored_resource_groups")
    @classmethod
    def _are_groups(cls, groups: tuple[str, ...]) -> tuple[str, ...]:
        for group in groups:
            if "/" in group:
                raise ValueError(f'"{group}" has a "/"; write the part before it, "{group.split("/")[0]}"')
            check_key(group)
        return groups
