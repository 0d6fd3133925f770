"""
Pods come in classes: what was found for one pod of a template is carried to the next.

For a class (see ``engine.templates``) the cache keeps, per node, whether it fits and its score so far, as seen by the
plugins that promise to look at that node's row (``Depends.ROW``, ``AMOUNTS``) or at node objects (``OBJECT``,
``NODES``).  For the next pod of the class only the rows that changed since are asked for again.  Plugins that look at
domains, or promise nothing, are run for every pod.  The answer is the one the full pass would give: same seed, same
decisions, pod by pod.

``Scheduler.schedule_one`` asks here first; ``None`` means the full pass must say.
"""

from __future__ import annotations

from collections import OrderedDict

from bayplan.engine import every_time, scoring
from bayplan.engine.answers import Answers
from bayplan.engine.cache import ClusterCache
from bayplan.engine.class_entry import ClassEntry, OfObjects
from bayplan.engine.class_run import ClassRun
from bayplan.engine.filtering import Filters
from bayplan.engine.running import Calls
from bayplan.engine.table import plain_sums
from bayplan.engine.templates import Plugins, Template, Templates
from bayplan.errors import GO_THROUGH
from bayplan.framework.decision import Decision
from bayplan.framework.plugin import Depends, Plugin
from bayplan.framework.ports import MetricSink
from bayplan.objects.pod import Pod

MAX_BYTES = 512 * 1024 * 1024
MAX_SEEN = 8192
# With more rows changed than this share of the table, a fresh pass is cheaper than asking row by row.
STALE_SHARE = 64
# Of the first pods of their classes, one in so many has the time of every extension point measured, by the full pass.
MEASURE_EVERY = 10


class ClassCache:
    """The classes of one profile."""

    def __init__(self, filters: Filters, cache: ClusterCache, metrics: MetricSink | None = None) -> None:
        self._filters = filters
        self._cache = cache
        self._nodes = cache.nodes
        self._metrics = metrics
        self._weights = filters.profile.weights
        self._templates = Templates(filters.profile, cache)
        self._generation = self._templates.generation
        self._of_objects: OrderedDict[int, OfObjects] = OrderedDict()
        self._entries: OrderedDict[int, ClassEntry] = OrderedDict()
        self._seen: OrderedDict[int, None] = OrderedDict()

    def decide(self, pod: Pod, seed: int, cycle: int) -> Decision | None:
        """The decision for a pod, or ``None``."""
        if pod.nominated_node_name or not len(self._nodes) or self._is_room_kept(pod):
            # Only the full pass judges a node together with the pods that are expected there.
            return None
        try:
            template = self._templates.of(pod)
            if self._generation != self._templates.generation:
                self._forget_all()
            number = scoring.scramble(seed, cycle)
            entry = self._entries.get(template.rows)
            if entry is None and self._is_new(template.rows):
                is_measured = self._metrics is not None and cycle % MEASURE_EVERY == 1
                return None if is_measured else self._decide_once(pod, template, number)
            return self._decide(self._up_to_date(entry, pod, template), pod, template, number)
        except GO_THROUGH:
            raise
        except BaseException:
            # Whatever a plugin does wrong, the full pass finds it again and says which plugin it was.
            return None

    def run_after(self, pod: Pod) -> ClassRun | None:
        """For the pods behind this one, which was placed just now, if they share its template and may be run."""
        if self._filters.nominated.nominated_nodes():
            return None
        try:
            template = self._templates.of(pod)
            entry = self._entries.get(template.rows) if template.runs else None
            if entry is None or self._left(pod, template.asked):
                return None
            entry = self._up_to_date(entry, pod, template)
        except GO_THROUGH:
            raise
        except BaseException:
            # As above: whoever is asked about the next pod by itself finds it again.
            return None
        if not entry.goes_by_sums:
            return None
        return ClassRun(entry, plain_sums(pod), self._cache, self._filters.profile.scheduler_name)

    # -- classes --

    def _is_new(self, number: int) -> bool:
        """Is this the first pod of a class?  It may stay the only one, so nothing is kept for it."""
        if number in self._seen:
            return False
        self._seen[number] = None
        if len(self._seen) > MAX_SEEN:
            self._seen.popitem(last=False)
        return True

    def _up_to_date(self, entry: ClassEntry | None, pod: Pod, template: Template) -> ClassEntry:
        of_objects = self._of_node_objects(pod, template.objects)
        if entry is not None and entry.of_objects is of_objects:
            self._entries.move_to_end(template.rows)
            position = of_objects.position
            if entry.position == position:
                return entry
            dirty = self._few_changed(entry.position)
            if dirty is not None:
                entry.refresh(pod, self._nodes, dirty)
                entry.position = position
                return entry
        answers = Answers(pod, self._nodes, self._templates.of_rows, self._weights, of_objects.answers)
        entry = self._entries[template.rows] = ClassEntry(answers, of_objects)
        self._entries.move_to_end(template.rows)
        self._keep_few(self._entries)
        return entry

    def _of_node_objects(self, pod: Pod, number: int) -> OfObjects:
        known = self._of_objects.get(number)
        cache, nodes = self._cache, self._nodes
        is_same = known is not None and known.layout == cache.layout
        if known and is_same and (known.generation == nodes.objects_generation or self._refreshed(known, pod)):
            known.position = cache.position()
            return known
        answers = Answers(pod, nodes, self._templates.of_objects, self._weights)
        known = self._of_objects[number] = OfObjects(answers, cache.layout, nodes.objects_generation, cache.position())
        self._of_objects.move_to_end(number)
        self._keep_few(self._of_objects)
        return known

    def _refreshed(self, known: OfObjects, pod: Pod) -> bool:
        """Ask again about nodes whose objects may have changed; false if all must be asked about."""
        answers = known.answers
        dirty = self._few_changed(known.position) if answers.depend_within(Depends.OBJECT) else None
        if dirty is None:
            return False
        for row in dirty:
            answers.values[row] = total = answers.ask(pod, self._nodes.node(row))
            if total >= 0:
                answers.normalize_again(pod, self._nodes, row)
        known.generation = self._nodes.objects_generation
        return True

    def _few_changed(self, position: int) -> set[int] | None:
        """The rows changed since then, unless they are so many that a fresh pass is cheaper."""
        dirty = self._cache.changed_since(position)
        return None if dirty is None or len(dirty) > 8 + len(self._nodes) // STALE_SHARE else dirty

    def _keep_few(self, kept: OrderedDict[int, ClassEntry] | OrderedDict[int, OfObjects]) -> None:
        most = max(2, MAX_BYTES // (64 * len(self._nodes) + 1))
        while len(kept) > most:
            kept.popitem(last=False)

    def _forget_all(self) -> None:
        """Classes are numbered anew."""
        for known in (self._of_objects, self._entries, self._seen):
            known.clear()
        self._generation = self._templates.generation

    # -- one pod --

    def _decide(self, entry: ClassEntry, pod: Pod, template: Template, number: int) -> Decision | None:
        answers = entry.answers
        decision = Decision(pod, self._filters.profile.scheduler_name, state=answers.state.copy())
        left = self._left(pod, template.asked)
        if left or answers.differ:
            return self._complete(decision, answers, template.asked, left, number)
        picked = entry.blocks.pick(number)
        if picked is None:
            return None
        decision.node, decision.ties = self._nodes.names[picked[0]], picked[1]
        return decision

    def _decide_once(self, pod: Pod, template: Template, number: int) -> Decision | None:
        """For the first of a class.  Where plugins are asked every time, the full pass is no dearer."""
        if self._left(pod, template.asked):
            return None
        of_objects = self._of_node_objects(pod, template.objects)
        answers = Answers(pod, self._nodes, self._templates.of_rows, self._weights, of_objects.answers)
        decision = Decision(pod, self._filters.profile.scheduler_name, state=answers.state)
        return self._complete(decision, answers, template.asked, [], number)

    def _left(self, pod: Pod, asked: Plugins) -> list[Plugin]:
        """Who has a say in this pod beside those whose answers are kept."""
        return [plugin for plugin in asked.all if not plugin.sits_out(pod, self._nodes)]

    def _complete(
        self, decision: Decision, answers: Answers, asked: Plugins, left: list[Plugin], number: int
    ) -> Decision | None:
        calls = Calls(decision.pod, self._metrics)
        return every_time.complete(decision, answers, asked, left, calls, self._nodes, self._weights, number)

    def _is_room_kept(self, pod: Pod) -> bool:
        """Is a node set aside for a pod that this one must leave room for?"""
        filters, row_of = self._filters, self._nodes.row_of
        names = filters.nominated.nominated_nodes()
        return bool(names) and any(row_of(name) is not None and filters.expected(pod, name) for name in names)
