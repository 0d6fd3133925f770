"""How large the parts of a device can be, by the way that leads to them: ``device``, ``attributes``, ``@values``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bayplan.cel.estimates.sizes import Size


class Path:
    """Names from a variable to a part of it.

    Two continuations of one path can share their last place, and then the later name counts for both. That is how
    the API server keeps paths, and estimates depend on it.
    """

    __slots__ = ("_places", "_length")

    def __init__(self, *names: str) -> None:
        self._places = list(names)
        self._length = len(names)

    @property
    def names(self) -> Sequence[str]:
        return self._places[: self._length]

    def then(self, name: str) -> Path:
        made = Path()
        made._places, made._length = self._places, self._length + 1
        if self._length == len(self._places):
            made._places = self._places + [""] * max(1, self._length)
        made._places[self._length] = name
        return made


@dataclass(frozen=True, slots=True, eq=False)
class _Declared:
    most: int = 0
    fields: Mapping[str, _Declared] = field(default_factory=dict)
    key: _Declared | None = None
    value: _Declared | None = None

    def part(self, name: str) -> _Declared | None:
        if name in ("@items", "@values"):
            return self.value
        if name == "@keys":
            return self.key
        return self.fields.get(name) or (_ATTRIBUTE if self.value is _ATTRIBUTE else None)


_ENTRIES = 32
_NAME = _Declared(63)
_ID = _Declared(32)
_ATTRIBUTE = _Declared(64)
_ATTRIBUTES = _Declared(_ENTRIES, key=_NAME, value=_Declared(_ENTRIES, key=_ID, value=_ATTRIBUTE))
_CAPACITY = _Declared(_ENTRIES, key=_NAME, value=_Declared(_ENTRIES, key=_ID, value=_Declared()))
_DEVICE = _Declared(
    fields={
        "driver": _NAME,
        "allowMultipleAllocations": _Declared(1),
        "attributes": _ATTRIBUTES,
        "capacity": _CAPACITY,
    }
)


def device_size(path: Path) -> Size | None:
    """None if the path leads to nothing that is declared."""
    names = path.names
    found: _Declared | None = _DEVICE if names and names[0] == "device" else None
    for name in names[1:]:
        found = found.part(name) if found is not None else None
    return None if found is None else Size(0, found.most)
