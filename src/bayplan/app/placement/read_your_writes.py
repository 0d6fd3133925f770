"""Objects as the API server answered them, until the watch has told of them too: for `app.placement.live`.

Between a write and its event the informer shows the object as it was. Who decides from that writes the same once more,
with a later time in it. Versions of one object compare as numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from bayplan.kube.wire import is_older
from bayplan.objects.meta import ApiObject

T = TypeVar("T", bound=ApiObject)


class ReadYourWrites:
    """The newest answers to writes; those that the watch has caught up with are dropped."""

    def __init__(self) -> None:
        self._answers: dict[tuple[type[ApiObject], str], ApiObject] = {}

    def note(self, answer: ApiObject) -> None:
        self._answers[type(answer), answer.key] = answer

    def seen(self, thing: ApiObject, *, is_gone: bool = False) -> None:
        """The watch tells of an object."""
        held = self._answers.get((type(thing), thing.key))
        if held is not None and (is_gone or not _is_newer(held, thing)):
            del self._answers[type(thing), thing.key]

    def forget(self, kind: type[ApiObject], key: str) -> None:
        self._answers.pop((kind, key), None)

    def over(self, kind: type[T], known: Iterable[T]) -> list[T]:
        """What the informer knows, with the newer answers in their places."""
        things = {each.key: each for each in known}
        for (each, key), answer in self._answers.items():
            if each is kind and isinstance(answer, kind) and (key not in things or _is_newer(answer, things[key])):
                things[key] = answer
        return list(things.values())


def _is_newer(answer: ApiObject, thing: ApiObject) -> bool:
    return is_older(thing.metadata.resource_version, answer.metadata.resource_version)
