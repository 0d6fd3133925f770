"""What every Kubernetes object carries: name, labels, owners, times, and the label selector.

Every other module of `objects` builds on this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

NO_STRINGS: Mapping[str, str] = MappingProxyType({})


class Wire(msgspec.Struct, rename="camel", frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """How every part of an API object is read: camelCase, immutable, unknown fields ignored.

    Type checkers and `kw_only` do not look at the parent: subclasses say ``frozen=True, kw_only=True`` again.
    """


class OwnerReference(Wire, frozen=True, kw_only=True):
    """Who made this object; the one with `controller` looks after it."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class ObjectMeta(Wire, frozen=True, kw_only=True):
    """The `metadata` of every object."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    finalizers: tuple[str, ...] | None = None

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that looks after the object, if one does."""
        for owner in self.owner_references or ():
            if owner.controller:
                return owner
        return None


class StatusCondition(Wire, frozen=True, kw_only=True):
    """How an object is doing in one respect, as custom resources write it."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
    observed_generation: int = 0


class LabelSelectorRequirement(Wire, frozen=True, kw_only=True):
    """One `matchExpressions` entry as it is written."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class LabelSelector(Wire, frozen=True, kw_only=True):
    """A label selector as it is written; `selector.compile_label_selector` makes it quick to ask."""

    match_labels: dict[str, str] | None = None
    match_expressions: tuple[LabelSelectorRequirement, ...] | None = None


class ApiObject(msgspec.Struct, rename="camel", frozen=True, kw_only=True, omit_defaults=True, dict=True):
    """What all top-level kinds share. `dict=True` gives `cached_property` a place to keep its answer."""

    metadata: ObjectMeta = ObjectMeta()

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        return self.metadata.namespace

    @property
    def uid(self) -> str:
        return self.metadata.uid

    @property
    def labels(self) -> Mapping[str, str]:
        return self.metadata.labels or NO_STRINGS

    @property
    def annotations(self) -> Mapping[str, str]:
        return self.metadata.annotations or NO_STRINGS

    @property
    def key(self) -> str:
        """``namespace/name``, or just the name of a cluster-wide object."""
        meta = self.metadata
        return f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that looks after the object, if one does."""
        return self.metadata.controller

    @property
    def is_terminating(self) -> bool:
        return self.metadata.deletion_timestamp is not None

    def evolve(self, **changes: Any) -> Any:
        """A copy with some fields replaced; nothing computed for the old one is carried over."""
        return msgspec.structs.replace(self, **changes)
