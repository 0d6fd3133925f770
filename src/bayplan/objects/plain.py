"""Objects of kinds that have no class: the fields as a mapping, the metadata as every other object has it.

`kinds` gives a kind without a class one of its own, made here; plugins get the objects from `handle.objects`.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from functools import cache, cached_property
from typing import Any

import msgspec

from bayplan.objects.meta import ApiObject


class PlainObject(ApiObject, frozen=True, kw_only=True):
    """An object as it is written: `thing["spec"]["rack"]`, and `thing.name`, `thing.labels` as for any other.

    It is shared by everybody who asks for it: read what it holds, do not change it.
    """

    content: dict[str, Any]
    """All fields but the metadata."""

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> PlainObject:
        """The object that was written so; `msgspec.ValidationError` if its metadata is none."""
        # As a whole object, so that a mistake is told with its whole path.
        headed = msgspec.convert({"metadata": raw.get("metadata") or {}}, ApiObject)
        content = {key: value for key, value in raw.items() if key != "metadata"}
        return cls(metadata=headed.metadata, content=content)

    @cached_property
    def written(self) -> dict[str, Any]:
        """All fields as they would be written."""
        head: dict[str, Any] = {key: self.content[key] for key in ("apiVersion", "kind") if key in self.content}
        return {**head, "metadata": msgspec.to_builtins(self.metadata), **self.content}

    def __getitem__(self, field: str) -> Any:
        return self.written[field]

    def __iter__(self) -> Iterator[str]:
        return iter(self.written)

    def __len__(self) -> int:
        return len(self.written)

    def __contains__(self, field: object) -> bool:
        return field in self.written

    def get(self, field: str, default: Any = None) -> Any:
        return self.written.get(field, default)

    def keys(self) -> KeysView[str]:
        return self.written.keys()

    def values(self) -> ValuesView[Any]:
        return self.written.values()

    def items(self) -> ItemsView[str, Any]:
        return self.written.items()

    def __getattr__(self, name: str) -> Any:
        """Called for attributes that are not there, and only for those."""
        if name.startswith("_"):
            raise AttributeError(name)
        kind = type(self).__name__
        raise AttributeError(f'a {kind} has no attribute "{name}": its fields are those of a mapping, write ["{name}"]')


Mapping.register(PlainObject)


@cache
def plain_struct(group: str, kind: str) -> type[PlainObject]:
    """The class that stands for a kind which has none."""
    struct = msgspec.defstruct(kind, [], bases=(PlainObject,), frozen=True, kw_only=True)
    assert issubclass(struct, PlainObject)
    return struct
