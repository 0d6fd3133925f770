"""
The layers that are kept for the pods of one profile, by class, and brought up to date when they are asked for.

For a class (see ``engine.kept.pod_classes``) this keeps, per node, whether it fits and its score so far, as seen by the
plugins that promise to look at that node's row (``Depends.ROW``, ``AMOUNTS``) or at node objects (``OBJECT``,
``NODES``).  For the next pod of the class only the rows that changed since are asked about again.  Plugins that look
at domains, or promise nothing, are left for ``engine.evaluation`` to ask.
"""

from __future__ import annotations

from typing import NamedTuple

from bayplan.bounded_cache import BoundedCache
from bayplan.engine.cache import ClusterCache
from bayplan.engine.kept.class_answers import ClassAnswers, ObjectsLayer
from bayplan.engine.kept.layer import Layer
from bayplan.engine.kept.pod_classes import Left, PodClass, PodClasses
from bayplan.engine.plugin_calls import Calls
from bayplan.engine.plugin_group import PluginGroup
from bayplan.engine.promises import Promises
from bayplan.framework.profile import Profile
from bayplan.framework.promise import Depends

MAX_BYTES = 512 * 1024 * 1024
MAX_SEEN = 8192
# With more rows changed than this share of the table, a fresh pass is cheaper than asking row by row.
STALE_SHARE = 64


class Known(NamedTuple):
    """What is known for a pod before anybody is asked about it, and who is left to ask."""

    below: Layer
    left: Left
    pod_class: PodClass
    answers: ClassAnswers | None
    """If the rows layer of its class is kept; then ``below`` is that layer."""

    @property
    def plugins(self) -> frozenset[str]:
        """Whose answers these are."""
        of_objects, division = self.answers is None, self.pod_class.division
        return division.kept_of_objects if of_objects else division.kept

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

    def __init__(self, profile: Profile, cache: ClusterCache, promises: Promises) -> None:
        self._cache = cache
        self._nodes = cache.nodes
        self._weights = profile.weights
        self._pod_classes = PodClasses(profile, cache, promises)
        self._generation = self._pod_classes.generation
        self._objects: BoundedCache[int, ObjectsLayer] = BoundedCache(1)
        self._classes: BoundedCache[int, ClassAnswers] = BoundedCache(1)
        self._seen: BoundedCache[int, bool] = BoundedCache(MAX_SEEN)

    def of(self, calls: Calls) -> Known:
        """What is known for a pod.  ``NotKeptError`` if that is nothing."""
        pod_class = self._pod_classes.of(calls)
        if self._generation != self._pod_classes.generation:
            self._forget_all()
        answers = self._classes.get(pod_class.rows)
        left = self._pod_classes.left(calls.pod, pod_class.division)
        if answers is None and self._is_new(pod_class.rows):
            return Known(self._of_objects(calls, pod_class).layer, left, pod_class, None)
        answers = self._up_to_date(answers, calls, pod_class)
        return Known(answers.layer, left, pod_class, answers)

    # -- classes --

    def _is_new(self, number: int) -> bool:
        """Is this the first pod of a class?  It may stay the only one, so nothing is kept for it."""
        if number in self._seen:
            return False
        self._seen[number] = True
        return True

    def _up_to_date(self, answers: ClassAnswers | None, calls: Calls, pod_class: PodClass) -> ClassAnswers:
        objects = self._of_objects(calls, pod_class)
        if answers is not None and answers.objects is objects:
            position = objects.position
            if answers.position == position:
                return answers
            dirty = self._few_changed(answers.position)
            if dirty is not None:
                answers.refresh(calls, self._nodes, dirty)
                answers.position = position
                return answers
        group = pod_class.division.of_rows
        layer = Layer(calls, self._nodes, group, pod_class.promised, self._weights, objects.layer)
        self._classes.limit = self._most
        answers = self._classes[pod_class.rows] = ClassAnswers(layer, objects)
        return answers

    def _of_objects(self, calls: Calls, pod_class: PodClass) -> ObjectsLayer:
        known = self._objects.get(pod_class.objects)
        cache, nodes = self._cache, self._nodes
        is_told = known is not None and cache.journal.reaches(known.position)
        if known and is_told and (known.generation == nodes.objects_generation or self._refreshed(known, calls)):
            known.position = cache.journal.position
            return known
        layer = Layer(calls, nodes, pod_class.division.of_objects, pod_class.promised, self._weights)
        known = ObjectsLayer(layer, nodes.objects_generation, cache.journal.position)
        self._objects.limit = self._most
        self._objects[pod_class.objects] = known
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

    @property
    def _most(self) -> int:
        """How many layers there is room for."""
        return max(2, MAX_BYTES // (64 * len(self._nodes) + 1))

    def _forget_all(self) -> None:
        """Classes are numbered anew."""
        for known in (self._objects, self._classes, self._seen):
            known.clear()
        self._generation = self._pod_classes.generation
