"""
Files to the cluster a simulation starts from: the objects, the scheduler's configuration, and what to warn about.

``bayplan simulate`` and ``bayplan explain`` call ``read``; tests and other tools that hold documents already call
``load``.  What an object means and what it lacks is ``objects.loading``'s business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayplan.errors import InputError, InputErrors
from bayplan.framework.config import KIND as CONFIG_KIND
from bayplan.framework.config import load_config
from bayplan.framework.config_model import SchedulerConfig
from bayplan.objects import kinds, loading, manifests
from bayplan.objects.defaulting import Classes, default_pod
from bayplan.objects.manifests import Document
from bayplan.objects.meta import ApiObject
from bayplan.objects.pod import Pod
from bayplan.objects.workload import Workload
from bayplan.plugins.registering import mistakes_of


@dataclass(frozen=True, slots=True)
class Given:
    """What the user gave."""

    objects: list[ApiObject]
    config: SchedulerConfig | None = None
    warnings: list[str] = field(default_factory=list)
    documents: dict[tuple[str, str, str], Document] = field(default_factory=dict)
    """Where an object was written, by kind, namespace and name."""

    def place(self, thing: ApiObject) -> Document | None:
        """The document an object came from; None for one that was made here."""
        return self.documents.get((kinds.kind_of(thing), thing.namespace, thing.name))


def read(
    inputs: Sequence[str | Path],
    *,
    recursive: bool = False,
    config: str | Path | None = None,
    plugins: Sequence[str] = (),
    stdin: bytes | None = None,
) -> Given:
    """
    Everything in the files; ``config`` names a file with a KubeSchedulerConfiguration, ``plugins`` are those it may
    name beside the ones that are known anyway.
    """
    documents = manifests.read(inputs, recursive=recursive, stdin=stdin)
    return load(documents, None if config is None else read_config(config), plugins)


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


def load(documents: Iterable[Document], config: Document | None = None, plugins: Sequence[str] = ()) -> Given:
    """Documents as the objects a cluster would hold.  Raises ``InputError`` or ``ConfigError``."""
    rest: list[Document] = []
    configs = [] if config is None else [config]
    for document in documents:
        (configs if document.kind == CONFIG_KIND else rest).append(document)
    settings, warnings = _config(configs, plugins)
    loaded = loading.load(rest)
    warnings += loaded.warnings
    if loaded.note:
        warnings.append(loaded.note)
    if settings is not None and settings.extenders:
        warnings.append(f"{settings.source}: extenders: nobody is called from here, so they have no say")
    given = Given(loaded.objects, settings, warnings, _places(rest))
    mistakes = list(_template_mistakes(given))
    if mistakes:
        raise mistakes[0] if len(mistakes) == 1 else InputErrors(mistakes)
    return given


def _template_mistakes(given: Given) -> Iterator[InputError]:
    """What would go wrong when a workload makes its first pod: then nobody could tell any more where it stands."""
    classes = Classes.among(given.objects)
    for each in given.objects:
        document = given.place(each)
        if not isinstance(each, Workload) or document is None:
            continue
        try:
            default_pod(Pod(metadata=each.metadata, spec=each.spec.template.spec), classes.priority, classes.runtime)
        except InputError as error:
            wrong = InputError(error.problem, field=f"spec.template.{error.field}", fix=error.fix)
            yield wrong.located(document.source, document.line, kinds.describe(document.raw))


def _config(configs: Sequence[Document], plugins: Sequence[str]) -> tuple[SchedulerConfig | None, list[str]]:
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


def _places(documents: Iterable[Document]) -> dict[tuple[str, str, str], Document]:
    places = {}
    for document in documents:
        meta = document.raw.get("metadata") or {}
        kind = kinds.find(document.api_version, document.kind)
        namespace = meta.get("namespace") or ("default" if kind is None or kind.namespaced else "")
        places[document.kind, namespace, meta.get("name", "")] = document
    return places
