"""
Objects of a live cluster as documents.  For a file to share they are cut down to what scheduling reads: no environment,
no commands, no secrets, and only the annotations that matter.  For use in this process they stay as a scheduler would
see them, since it is not known what a plugin of the user reads.  Used by ``app.snapshot.live_cluster``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from bayplan.controllers.rebalancer import protection
from bayplan.errors import InputError
from bayplan.objects import spare, volume, workload
from bayplan.objects.admission.own_keys import ARRIVES, CLOSED_FOR_ROOM, INTERVAL, USAGE
from bayplan.objects.admission.pod_defaulting import SYSTEM_PRIORITY_CLASSES
from bayplan.objects.admission.validating import check_object
from bayplan.objects.deletion_cost import DELETION_COST
from bayplan.objects.devices.names import DELETE_PROTECTION, EXTENDED_RESOURCE_CLAIM, POD_CLAIM_NAME
from bayplan.objects.files.manifests import AT
from bayplan.objects.kinds import Kind, as_written, convert, describe
from bayplan.objects.meta import ApiObject
from bayplan.objects.third_party import crane_annotations, kosmos
from bayplan.objects.third_party.kubevirt import STICKY_NODE
from bayplan.simulator.controllers.deployments import REVISION

READ_ANNOTATIONS = frozenset(
    (
        volume.BIND_COMPLETED,
        volume.BOUND_BY_CONTROLLER,
        volume.SELECTED_NODE,
        volume.BETA_STORAGE_CLASS,
        volume.MIGRATED_PLUGINS,
        *volume.IS_DEFAULT_CLASS,
        POD_CLAIM_NAME,
        EXTENDED_RESOURCE_CLAIM,
        REVISION,
        workload.DESIRED_REPLICAS,
        kosmos.LEAF_MODE,
        kosmos.OWNED_BY_CLUSTER,
        kosmos.CLUSTER_OWNERS,
        spare.LEDGER,
        CLOSED_FOR_ROOM,
        USAGE,
        DELETION_COST,
        *protection.READ_ANNOTATIONS,
    )
)
# Their content is private; that they are there is enough.
_OPAQUE = ("configMap", "secret", "emptyDir", "hostPath", "local", "parameters")
# Of no use outside the cluster.
_BOOKKEEPING = ("resourceVersion", "generation", "finalizers")
# When things happen in a simulation; what is in a live cluster is there already.
_TIMETABLE = (AT, ARRIVES, INTERVAL)
EVERY = "*"
"""Given as the name of an annotation to keep: all of them."""


class Trimming:
    """
    Makes documents of raw objects.

    Args:
        keep: annotations to keep beside those that scheduling reads; ``*`` for all.
        whole: leave objects as a scheduler sees them.
        warn: hears of objects that cannot be used.
    """

    def __init__(
        self,
        keep: Iterable[str] = (),
        warn: Callable[[str], None] = lambda warning: None,
        *,
        whole: bool = False,
    ) -> None:
        self._keep = READ_ANNOTATIONS | frozenset(keep)
        self._whole = whole
        self._warn = warn
        self.left_out: set[str] = set()
        """Names of annotations that are in the cluster and in no document."""

    def document(self, kind: Kind, raw: dict[str, Any]) -> dict[str, Any] | None:
        """One object, or ``None`` if it cannot be used: one odd object must not spoil all others."""
        if kind.called == "PriorityClass" and raw["metadata"]["name"] in SYSTEM_PRIORITY_CLASSES:
            return None
        try:
            thing = convert(raw, kind.struct)
            mistakes = list(check_object(thing))
        except InputError as error:
            mistakes = [error]
        if mistakes:
            self._warn(f"left out: {mistakes[0].located('', 0, describe({**raw, 'kind': kind.name}))}")
            return None
        return self.written(kind, thing)

    def written(self, kind: Kind, thing: ApiObject) -> dict[str, Any]:
        """An object that makes sense, as a document."""
        trimmed = self._trimmed(kind, as_written(thing))
        if not self._whole:
            for field in _BOOKKEEPING:
                trimmed["metadata"].pop(field, None)
            if DELETE_PROTECTION in (thing.metadata.finalizers or ()):
                # It says that a claim's devices were given by a scheduler, and can be given back.
                trimmed["metadata"]["finalizers"] = [DELETE_PROTECTION]
            if kind.called == "StorageClass":
                trimmed.pop("parameters", None)
        if kind.called == "PodDisruptionBudget":
            # A status that says nothing would look like a manifest, and be worked out anew.
            trimmed.setdefault("status", {}).setdefault("disruptionsAllowed", 0)
        return {"apiVersion": kind.api_version, "kind": kind.name, **trimmed}

    def consistent(self, documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Templates that name a priority class which is gone lose the name: it could not be looked up."""
        known = {each["metadata"]["name"] for each in documents if each["kind"] == "PriorityClass"}
        known.update(SYSTEM_PRIORITY_CLASSES)
        for spec in _template_specs(documents):
            if spec.get("priorityClassName", "") not in known:
                spec.pop("priorityClassName", None)
        return documents

    def _trimmed(self, kind: Kind, written: dict[str, Any]) -> dict[str, Any]:
        """
        Structs hold what scheduling reads, so writing them out again dropped all the rest.  Of kinds without a class
        nobody knows what a plugin reads, but what a secret holds goes into no file.  What a driver says of its devices
        is no secret, and its attributes may be called anything.
        """
        if not kind.is_plain and kind.called != "ResourceSlice":
            trimmed: dict[str, Any] = self._trim(written)
            return trimmed
        if kind.called == "Secret" and not self._whole:
            written = {key: value for key, value in written.items() if key not in ("data", "stringData")}
        return {**_with_lists(written), "metadata": self._trim(written["metadata"])}

    def _trim(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: kept for key, each in value.items() if (kept := self._entry(key, each)) is not None}
        return [self._trim(each) for each in value] if isinstance(value, list | tuple) else value

    def _entry(self, key: str, value: Any) -> Any:
        if key == "annotations" and isinstance(value, dict):
            kept = {name: text for name, text in value.items() if self._is_kept(name, text)}
            self.left_out.update(value.keys() - kept.keys())
            return kept or None
        if key in _OPAQUE and isinstance(value, dict) and not self._whole:
            return {}
        return self._trim(value)

    def _is_kept(self, name: str, text: Any) -> bool:
        """A policy gives metrics any name, so loads are known by their values: a number and a time tell no secret."""
        if name in _TIMETABLE:
            return name in self._keep
        if self._whole or EVERY in self._keep or name in self._keep or name.startswith(STICKY_NODE):
            return True
        return isinstance(text, str) and crane_annotations.read(text) is not None


def _with_lists(value: Any) -> Any:
    """As it is read from a file, where there are no tuples."""
    if isinstance(value, dict):
        return {key: _with_lists(each) for key, each in value.items()}
    return [_with_lists(each) for each in value] if isinstance(value, list | tuple) else value


def _template_specs(documents: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for document in documents:
        template = document.get("spec", {}).get("template")
        if isinstance(template, dict) and isinstance(template.get("spec"), dict):
            yield template["spec"]
