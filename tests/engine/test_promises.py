"""Promises are asked for once per template, and again when an API object changes."""

from __future__ import annotations

from typing import Any

from bayplan.engine.plugin_calls import Calls
from bayplan.engine.promises import Promises
from bayplan.framework import Depends, FilterPlugin, Promise
from bayplan.testing import api_object, pod
from tests.engine.support import World


class Asked(FilterPlugin):
    name = "Asked"

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.templates: list[Any] = []

    def promise(self, template: Any) -> Promise | None:
        self.templates.append(template)
        return Promise(key=(), filter=Depends.OBJECT) if template.labels else None

    def filter_node(self, state: Any, pod: Any, node: Any) -> Any:
        return None


def test_a_template_is_asked_about_once_while_no_object_changes() -> None:
    world = World(Asked)
    promises = Promises(world.profile, world.cache.objects)
    calls = Calls(pod("a").label(app="web").build())
    first = promises.of(calls)
    assert first["Asked"].filter is Depends.OBJECT
    assert promises.of(Calls(calls.pod.assigned_to("n"))) is first
    assert len(world.plugin("Asked").templates) == 1

    service = api_object("Service", "web").build()
    world.cache.objects.put("Service", "default", "web", service)
    assert promises.of(calls) == first
    assert len(world.plugin("Asked").templates) == 2


def test_who_promises_nothing_is_not_listed() -> None:
    world = World(Asked)
    assert Promises(world.profile, world.cache.objects).of(Calls(pod("a").build())) == {}
