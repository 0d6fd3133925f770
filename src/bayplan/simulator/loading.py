"""
Files to the cluster a simulation starts from: the objects, the scheduler's configuration, and what to warn about.

``bayplan simulate`` and ``bayplan explain`` call ``read``; tests and other tools that hold documents already call
``load``.  What an object means and what it lacks is ``objects.files.loading``'s business.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from bayplan.errors import InputError, InputErrors
from bayplan.framework.config.loading import KIND as CONFIG_KIND
from bayplan.framework.config.loading import load_config
from bayplan.framework.config.model import SchedulerConfig
from bayplan.objects import kinds
from bayplan.objects.admission.defaulting import Classes, default_pod
from bayplan.objects.files import loading, manifests
from bayplan.objects.files.manifests import AT, UNTIL, Document
from bayplan.objects.meta import ApiObject
from bayplan.objects.pod import Pod
from bayplan.objects.workload import Workload
from bayplan.plugins.plugin_set import Plugins, mistakes_of, registry
from bayplan.simulator.annotation_checking import annotation_mistakes
from bayplan.simulator.device_checking import device_mistakes
from bayplan.simulator.device_warnings import device_warnings
from bayplan.simulator.timetable import read_delay
from bayplan.simulator.timetable_checking import timetable_mistakes
from bayplan.simulator.traces import expanding
from bayplan.simulator.traces.arranging import Arrangement


@dataclass(frozen=True, slots=True)
class Given:
    """What the user gave."""

    objects: list[ApiObject]
    config: SchedulerConfig | None = None
    warnings: list[str] = field(default_factory=list)
    documents: dict[tuple[str, str, str], Document] = field(default_factory=dict)
    """Where an object was written, by kind, namespace and name."""
    later_documents: dict[tuple[str, str, str, str], Document] = field(default_factory=dict)
    """The same for objects that come or change later, by their moment, too."""
    later: list[tuple[float, ApiObject]] = field(default_factory=list)
    """Objects as they are from so many seconds on, in the order of time."""
    ends: list[tuple[float, ApiObject]] = field(default_factory=list)
    """Objects that are deleted after so many seconds."""
    left_out: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of annotations that a snapshot is without, by its file."""
    plugins: Plugins = field(default_factory=lambda: registry(discover=False))
    """Those that the objects were read for, and that will judge them: they say which kinds are read."""
    config_document: Document | None = None
    """The configuration, if it stands among the files."""
    is_live: bool = False
    """Whether it was read from a live cluster, whose own controllers have seen to everything."""
    arrangements: tuple[Arrangement, ...] = ()
    """What traces want done to their pods when a run begins."""

    def place(self, thing: ApiObject) -> Document | None:
        """The document an object came from; None for one that was made here."""
        key = kinds.kind_of(thing), thing.namespace, thing.name
        moment = thing.annotations.get(AT)
        return self.documents.get(key) if moment is None else self.later_documents.get((*key, moment))


def read(
    inputs: Sequence[str | Path],
    *,
    recursive: bool = False,
    config: str | Path | None = None,
    plugins: Sequence[str] = (),
    stdin: bytes | None = None,
    more: Sequence[Document] = (),
) -> Given:
    """
    Everything in the files; ``config`` names a file with a KubeSchedulerConfiguration, ``plugins`` are those it may
    name beside the ones that are known anyway; ``more`` was read from elsewhere.
    """
    known = registry(plugins)  # first of all: with plugins come kinds, and these are what files are read for
    warnings: list[str] = []
    documents, arrangements = read_documents(inputs, recursive=recursive, stdin=stdin, warn=warnings.append)
    given = load([*documents, *more], None if config is None else read_config(config), known, strict=True)
    given.warnings[:0] = warnings
    return dataclasses.replace(given, arrangements=arrangements)


def read_documents(
    inputs: Sequence[str | Path],
    *,
    recursive: bool = False,
    stdin: bytes | None = None,
    warn: Callable[[str], None] = lambda warning: None,
) -> tuple[list[Document], tuple[Arrangement, ...]]:
    """Every object of the files, those of traces among them, and what the traces want done to their pods."""
    return expanding.expanded(manifests.read(inputs, recursive=recursive, stdin=stdin, warn=warn))


def reconfigured(given: Given, config: str, plugins: Plugins) -> Given:
    """The same cluster for a scheduler with these plugins, and with this configuration where one is named."""
    if not config:
        return dataclasses.replace(given, plugins=plugins)
    settings, warnings = _config([read_config(config)], plugins)
    return dataclasses.replace(given, config=settings, plugins=plugins, warnings=[*given.warnings, *warnings])


def documents_of(raws: Iterable[dict[str, Any]], source: str = "") -> list[Document]:
    """Raw objects as if they had been read from a file."""
    return [Document(source, 0, raw) for raw in raws]


def read_config(path: str | Path) -> Document:
    """The one configuration in a file."""
    documents = manifests.read([path])
    if len(documents) == 1 and documents[0].kind == CONFIG_KIND:
        return documents[0]
    found = ", ".join(dict.fromkeys(each.kind or "no kind" for each in documents))
    raise InputError(f"expected one {CONFIG_KIND}, found {found}", source=str(path), fix=f"write kind: {CONFIG_KIND}")


def load(
    documents: Iterable[Document],
    config: Document | None = None,
    plugins: Plugins | None = None,
    *,
    strict: bool = False,
) -> Given:
    """
    Documents as the objects a cluster would hold; ``strict`` for what people wrote, see ``objects.files.loading``.

    ``plugins`` are those of the run, Bayplan's own without it.  Raises ``InputError`` or ``ConfigError``.
    """
    plugins = registry(discover=False) if plugins is None else plugins
    rest: list[Document] = []
    configs = [] if config is None else [config]
    for document in documents:
        (configs if document.kind == CONFIG_KIND else rest).append(document)
    settings, warnings = _config(configs, plugins)
    times = _times(rest)
    loaded = loading.load(rest, strict=strict, reads=plugins.reads)
    warnings += loaded.warnings
    if loaded.note:
        warnings.append(loaded.note)
    if settings is not None and settings.extenders:
        warnings.append(f"{settings.source}: extenders: nobody is called from here, so they have no say")
    now = [each for each in loaded.objects if AT not in each.annotations]
    later = [(times[each.annotations[AT]], each) for each in loaded.objects if AT in each.annotations]
    ends = [(times[each.annotations[UNTIL]], each) for each in loaded.objects if UNTIL in each.annotations]
    left_out = {each.source: each.left_out for each in rest if each.left_out}
    places, later_places = _places(rest)
    given = Given(
        now,
        settings,
        warnings,
        places,
        later_places,
        sorted(later, key=lambda pair: pair[0]),
        ends,
        left_out,
        plugins,
        config_document=configs[0] if configs and config is None else None,
    )
    mistakes = [
        *_template_mistakes(given),
        *_annotation_mistakes(given),
        *_timetable_mistakes(given),
        *_device_mistakes(given),
    ]
    if mistakes:
        raise mistakes[0] if len(mistakes) == 1 else InputErrors(mistakes)
    warnings += device_warnings(now, [each for _, each in later])
    return given


def _times(documents: Iterable[Document]) -> dict[str, float]:
    """Every moment that a document names, in seconds."""
    times: dict[str, float] = {}
    for document in documents:
        annotations = document.annotations
        for name in (AT, UNTIL):
            text = annotations.get(name)
            if not isinstance(text, str):
                continue  # what is no text is told where annotations are read
            try:
                times[text] = read_delay(text)
            except ValueError as error:
                wrong = InputError(str(error), field=f"metadata.annotations[{name}]")
                raise wrong.located(document.source, document.line, kinds.describe(document.raw)) from None
    return times


def _template_mistakes(given: Given) -> Iterator[InputError]:
    """What would go wrong when a workload makes its first pod: then its place in the files is not known any more."""
    classes = Classes.among(given.objects)
    for each in (*given.objects, *(thing for _, thing in given.later)):
        document = given.place(each)
        if not isinstance(each, Workload) or document is None:
            continue
        # What a server holds may be short of classes that are gone; what is written here may not.
        made = replace(each.metadata, uid=str(document.meta.get("uid") or ""))
        try:
            default_pod(Pod(metadata=made, spec=each.spec.template.spec), classes.priority, classes.runtime)
        except InputError as error:
            wrong = InputError(error.problem, field=f"spec.template.{error.field}", fix=error.fix)
            yield wrong.located(document.source, document.line, kinds.describe(document.raw))


def _annotation_mistakes(given: Given) -> Iterator[InputError]:
    """Timetables and usage profiles that cannot be read, of objects and of the pods that workloads will make."""
    for each in (*given.objects, *(thing for _, thing in given.later)):
        document = given.place(each)
        if document is None:
            continue
        parts = [("", each.annotations)]
        if isinstance(each, Workload):
            parts.append(("spec.template.", each.spec.template.metadata.annotations or {}))
        for above, written in parts:
            for name in (AT, UNTIL) if above else ():
                if name in written:
                    fix = "write it on the workload, or simulation.bayplan.io/arrives here"
                    wrong = InputError(
                        "is not for pods of a workload", field=f"{above}metadata.annotations[{name}]", fix=fix
                    )
                    yield wrong.located(document.source, document.line, kinds.describe(document.raw))
            for error in annotation_mistakes(written):
                wrong = InputError(error.problem, field=f"{above}{error.field}", fix=error.fix)
                yield wrong.located(document.source, document.line, kinds.describe(document.raw))


def _timetable_mistakes(given: Given) -> Iterator[InputError]:
    for thing, problem in timetable_mistakes(given.objects, given.later, given.ends):
        document = given.place(thing)
        if document is None:  # its name was made up here
            yield problem.located("", 0, f"{kinds.kind_of(thing)} {thing.key}")
        else:
            yield problem.located(document.source, document.line, kinds.describe(document.raw))


def _device_mistakes(given: Given) -> Iterator[InputError]:
    """Of what people wrote; a server let in what it holds."""
    for thing, problem in device_mistakes([*given.objects, *(each for _, each in given.later)]):
        document = given.place(thing)
        if document is not None and not document.meta.get("uid"):
            yield problem.located(document.source, document.line, kinds.describe(document.raw))


def _config(configs: Sequence[Document], plugins: Plugins) -> tuple[SchedulerConfig | None, list[str]]:
    if not configs:
        return None, []
    if len(configs) > 1:
        raise InputError(
            f"there is a {CONFIG_KIND} in {configs[0].place or 'the input'} already",
            source=configs[1].source,
            line=configs[1].line,
            fix="keep one of the two",
        )
    return load_config(configs[0].raw, configs[0].source, mistakes_of(plugins))


def _places(
    documents: Iterable[Document],
) -> tuple[dict[tuple[str, str, str], Document], dict[tuple[str, str, str, str], Document]]:
    """Where objects are written: those of the start, and those of a later moment."""
    places = {}
    later = {}
    for document in documents:
        kind = kinds.find(document.api_version, document.kind)
        if kind is None:
            continue
        namespace = document.meta.get("namespace") or ("default" if kind.namespaced else "")
        # What is not read may be called anything, so its name need not be text.
        key = kind.called, str(namespace), str(document.meta.get("name", ""))
        if document.moment is None:
            places[key] = document
        else:
            later[*key, str(document.moment)] = document
    return places, later
