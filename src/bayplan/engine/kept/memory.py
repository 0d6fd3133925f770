"""
The layers that are kept for the pods of one profile, by class, and brought up to date when they are asked for.

For a class (see ``engine.kept.templates``) this keeps, per node, whether it fits and its score so far, as seen by the
plugins that promise to look at that node's row (``Depends.ROW``, ``AMOUNTS``) or at node objects (``OBJECT``,
``NODES``).  For the next pod of the class only the rows that changed since are asked about again.  Plugins that look
at domains, or promise nothing, are left for ``engine.evaluation`` to ask.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from bayplan.engine.cache import ClusterCache
from bayplan.engine.kept.class_answers import ClassAnswers, ObjectsLayer
from bayplan.engine.kept.layer import Layer
from bayplan.engine.kept.templates import Left, Template, Templates
from bayplan.engine.plugin_calls import Calls
from bayplan.engine.plugin_group import PluginGroup
from bayplan.framework.plugin import Depends
from bayplan.framework.profile import Profile

MAX_BYTES = 512 * 1024 * 1024
MAX_SEEN = 8192
# With more rows changed than this share of the table, a fresh pass is cheaper than asking row by row.
STALE_SHARE = 64


class Known(NamedTuple):
    """What is known for a pod before anybody is asked about it, and who is left to ask."""

    below: Layer
    left: Left
    template: Template
    answers: ClassAnswers | None
    """If the rows layer of its class is kept; then ``below`` is that layer."""
    plugins: frozenset[str]
    """Whose answers these are."""

    @property
    def asked(self) -> PluginGroup:
        """Who is left to ask."""
        return self.left.with_rows if self.answers is None else self.left.alone

    @property
    def is_settled(self) -> bool:
        """Is nobody left to ask, and the best of what is kept the best of all?"""
        return self.answers is not None and not self.left.alone.all and not self.below.differ


class Memory:
    """The classes of one profile."""

    def __init__(self, profile: Profile, cache: ClusterCache) -> None:
        self._cache = cache
        self._nodes = cache.nodes
        self._weights = profile.weights
        self._templates = Templates(profile, cache)
        self._generation = self._templates.generation
        self._of_objects_names = frozenset(each.name for each in self._templates.of_objects.all)
        self._all_names = self._of_objects_names.union(each.name for each in self._templates.of_rows.all)
        self._objects: OrderedDict[int, ObjectsLayer] = OrderedDict()
        self._classes: OrderedDict[int, ClassAnswers] = OrderedDict()
        self._seen: OrderedDict[int, None] = OrderedDict()

    def of(self, calls: Calls) -> Known:
        """What is known for a pod.  ``NotKeptError`` if that is nothing."""
        template = self._templates.of(calls)
        if self._generation != self._templates.generation:
            self._forget_all()
        answers = self._classes.get(template.rows)
        left = self._templates.left(calls, template)
        if answers is None and self._is_new(template.rows):
            return Known(self._of_objects(calls, template.objects).layer, left, template, None, self._of_objects_names)
        answers = self._up_to_date(answers, calls, template)
        return Known(answers.layer, left, template, answers, self._all_names)

    # -- classes --

    def _is_new(self, number: int) -> bool:
        """Is this the first pod of a class?  It may stay the only one, so nothing is kept for it."""
        if number in self._seen:
            return False
        self._seen[number] = None
        if len(self._seen) > MAX_SEEN:
            self._seen.popitem(last=False)
        return True

    def _up_to_date(self, answers: ClassAnswers | None, calls: Calls, template: Template) -> ClassAnswers:
        objects = self._of_objects(calls, template.objects)
        if answers is not None and answers.objects is objects:
            self._classes.move_to_end(template.rows)
            position = objects.position
            if answers.position == position:
                return answers
            dirty = self._few_changed(answers.position)
            if dirty is not None:
                answers.refresh(calls, self._nodes, dirty)
                answers.position = position
                return answers
        layer = Layer(calls, self._nodes, self._templates.of_rows, self._weights, objects.layer)
        answers = self._classes[template.rows] = ClassAnswers(layer, objects)
        self._classes.move_to_end(template.rows)
        self._keep_few(self._classes)
        return answers

    def _of_objects(self, calls: Calls, number: int) -> ObjectsLayer:
        known = self._objects.get(number)
        cache, nodes = self._cache, self._nodes
        is_told = known is not None and cache.journal.reaches(known.position)
        if known and is_told and (known.generation == nodes.objects_generation or self._refreshed(known, calls)):
            known.position = cache.journal.position
            return known
        layer = Layer(calls, nodes, self._templates.of_objects, self._weights)
        known = self._objects[number] = ObjectsLayer(layer, nodes.objects_generation, cache.journal.position)
        self._objects.move_to_end(number)
        self._keep_few(self._objects)
        return known

    def _refreshed(self, known: ObjectsLayer, calls: Calls) -> bool:
        """Ask again about nodes whose objects may have changed; false if all must be asked about."""
        layer = known.layer
        dirty = self._few_changed(known.position) if layer.depends_within(Depends.OBJECT) else None
        if dirty is None:
            return False
        for row in dirty:
            node = self._nodes.node(row)
            layer.values[row] = total = layer.ask(calls, node)
            if total >= 0:
                layer.ask_raw(calls, node, row)
        known.generation = self._nodes.objects_generation
        return True

    def _few_changed(self, position: int) -> set[int] | None:
        """The rows changed since then, unless they are so many that a fresh pass is cheaper."""
        changes = self._cache.journal.since(position)
        dirty = None if changes is None else set(changes)
        return None if dirty is None or len(dirty) > 8 + len(self._nodes) // STALE_SHARE else dirty

    def _keep_few(self, kept: OrderedDict[int, ClassAnswers] | OrderedDict[int, ObjectsLayer]) -> None:
        most = max(2, MAX_BYTES // (64 * len(self._nodes) + 1))
        while len(kept) > most:
            kept.popitem(last=False)

    def _forget_all(self) -> None:
        """Classes are numbered anew."""
        for known in (self._objects, self._classes, self._seen):
            known.clear()
        self._generation = self._templates.generation
