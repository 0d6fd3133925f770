"""What there is to know of one kind of object. `kinds` has them all; plugins make one for a kind that is not there."""

from __future__ import annotations

from dataclasses import dataclass

from bayplan.objects.meta import ApiObject
from bayplan.objects.plain import PlainObject, plain_struct


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of object: where the API serves it, and the class that holds it; without one, a mapping."""

    group: str
    version: str
    name: str
    plural: str = ""
    """As in the API's paths; the name in lower case with an s, unless it is said."""
    struct: type[ApiObject] = PlainObject
    namespaced: bool = True
    alias: str = ""
    """What plugins call it, where another group has a kind of the same name."""
    is_optional: bool = False
    """Whether clusters do well without it: one that does not serve it has no such objects, and nothing is amiss."""

    def __post_init__(self) -> None:
        if not self.plural:
            object.__setattr__(self, "plural", _plural(self.name))
        if self.struct is PlainObject:
            object.__setattr__(self, "struct", plain_struct(self.group, self.name))

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def called(self) -> str:
        """What plugins call it: in `reads`, in `On(...)`, and when they ask for objects."""
        return self.alias or self.name

    @property
    def is_plain(self) -> bool:
        """Whether it has no class."""
        return issubclass(self.struct, PlainObject)


def _plural(name: str) -> str:
    word = name.lower()
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "z", "ch", "sh")) else f"{word}s"
