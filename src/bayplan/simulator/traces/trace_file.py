"""
What a file says of a trace: which CSV files have its nodes and pods, and which column is what.

A ``kind: Trace`` stands among the files of ``simulate -f`` and of sweeps (``read``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from bayplan.errors import InputError, InputErrors
from bayplan.framework.config.mistakes import found_by_pydantic, shown
from bayplan.objects.files.manifests import Document
from bayplan.objects.quantity import parse as parse_quantity

API_VERSION = "bayplan.io/v1alpha1"
KIND = "Trace"
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

Manifest = dict[str, Any]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ColumnUse(Part):
    """A column, and the unit in which it counts."""

    column: str = Field(min_length=1)
    unit: str = ""


def _as_column(written: object) -> object:
    """The name of a column alone will do."""
    return {"column": written} if isinstance(written, str) else written


def _checked_amount(use: ColumnUse) -> ColumnUse:
    try:
        parse_quantity(f"1{use.unit}")
    except ValueError:
        raise ValueError(f"{shown(use.unit)} is no unit; write one such as m, Mi or Gi, or leave it out") from None
    return use


def _checked_time(use: ColumnUse) -> ColumnUse:
    if use.unit and use.unit not in SECONDS:
        raise ValueError(f"{shown(use.unit)} is no unit of time; write {', '.join(SECONDS)}, or leave it out for s")
    return use


class _Amount(ColumnUse):
    @model_validator(mode="after")
    def _check(self) -> _Amount:
        _checked_amount(self)
        return self


class _Time(ColumnUse):
    @model_validator(mode="after")
    def _check(self) -> _Time:
        _checked_time(self)
        return self


Text = Annotated[ColumnUse, BeforeValidator(_as_column)]
Amount = Annotated[_Amount, BeforeValidator(_as_column)]
Time = Annotated[_Time, BeforeValidator(_as_column)]


class NodeColumns(Part):
    name: Text
    cpu: Amount
    memory: Amount
    gpus: Text | None = None
    """How many GPUs; the node has a thousand of ``gpuResource`` for each."""


class PodColumns(Part):
    name: Text
    namespace: Text | None = None
    cpu: Amount
    memory: Amount
    gpus: Text | None = None
    """How many GPUs; 0 for none."""
    gpuMilli: Text | None = None
    """What it takes of each, in thousandths; all of it without this column."""
    arrival: Time | None = None
    """When it comes, counted from the start of the run; at the start without it."""
    duration: Time | None = None
    """How long after its arrival it goes, whether it ran or not; never without it."""
    end: Time | None = None
    """When it goes, instead of ``duration``."""

    @model_validator(mode="after")
    def _agree(self) -> PodColumns:
        if self.duration is not None and self.end is not None:
            raise ValueError("duration and end contradict one another; keep one")
        if self.gpuMilli is not None and self.gpus is None:
            raise ValueError("gpuMilli says how much of each GPU; write gpus, too")
        return self


class TracePart(Part):
    """A CSV file: what its columns are, and what else its objects have."""

    file: str = Field(min_length=1)
    gpuResource: str = ""
    """The extended resource that stands for thousandths of GPUs."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Labels, and the columns they come from; an empty value makes none."""
    annotations: dict[str, str] = Field(default_factory=dict)
    template: Manifest = Field(default_factory=dict)
    """What is the same for all of them."""


class NodeTrace(TracePart):
    columns: NodeColumns

    @model_validator(mode="after")
    def _has_resource(self) -> NodeTrace:
        _check_resource(self.gpuResource, self.columns.gpus)
        return self


class PodTrace(TracePart):
    columns: PodColumns

    @model_validator(mode="after")
    def _has_resource(self) -> PodTrace:
        _check_resource(self.gpuResource, self.columns.gpus)
        return self


def _check_resource(resource: str, gpus: ColumnUse | None) -> None:
    if gpus is not None and not resource:
        raise ValueError("gpus counts in a resource; write gpuResource, such as gpu-sharing.example.com/milli")


class Demand(Part):
    """Pods are left out, or copied, at random until they ask for this much of what nodes have."""

    resource: str
    ofCapacity: float = Field(gt=0)


class TraceSpec(Part):
    nodes: NodeTrace | None = None
    pods: PodTrace | None = None
    shuffle: bool = False
    """In an order that the seed says, instead of that of the file."""
    demand: Demand | None = None

    @model_validator(mode="after")
    def _agree(self) -> TraceSpec:
        if self.nodes is None and self.pods is None:
            raise ValueError("a trace has nodes, pods or both; write at least one of them")
        arranged = "shuffle" if self.shuffle else "demand" if self.demand else ""
        if arranged and self.pods is None:
            raise ValueError(f"{arranged} is about pods; write pods, too")
        if arranged and self.pods is not None and self.pods.columns.arrival is not None:
            raise ValueError(f"{arranged} and pods.columns.arrival contradict one another; leave out one of the two")
        return self


class Metadata(Part):
    name: str = Field(min_length=1)


class TraceDocument(Part):
    apiVersion: str
    kind: str
    metadata: Metadata
    spec: TraceSpec


def is_trace(document: Document) -> bool:
    return document.kind == KIND and document.api_version.partition("/")[0] == API_VERSION.partition("/")[0]


def read(document: Document) -> TraceDocument:
    """The trace that a document describes; ``InputError`` with a line for every mistake."""
    if document.api_version != API_VERSION:
        raise InputError(
            f"there is no {document.api_version}", source=document.source, line=document.line,
            object=KIND, field="apiVersion", fix=f"write {API_VERSION}",
        )  # fmt: skip
    try:
        return TraceDocument.model_validate(document.raw)
    except ValidationError as error:
        mistakes = [
            InputError(each.text, source=document.source, line=document.line, object=KIND, field=each.path)
            for each in found_by_pydantic(error, TraceDocument)
        ]
        raise mistakes[0] if len(mistakes) == 1 else InputErrors(mistakes) from None


def path_of(part: TracePart, source: str) -> Path:
    """Where the CSV file is: beside the file that names it."""
    return Path(source).parent / part.file if Path(source).is_file() else Path(part.file)
