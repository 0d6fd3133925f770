"""
Mistakes people make in a configuration, as lines that say where they are and what to write instead.

``config``, ``args``, ``profile`` and ``registry`` collect ``Mistake`` values here and raise them all at once,
so that a file is corrected in one go.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from bayplan.objects.mistakes import nearest
from bayplan.raising import with_place


class Mistake(NamedTuple):
    """One thing to correct: the field it is in (``profiles[0].schedulerName``), and what is wrong with it."""

    path: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}: {self.text}" if self.path else self.text


def field_path(*steps: str | int) -> str:
    """``("profiles", 0, "plugins")`` as ``profiles[0].plugins``; empty steps are left out."""
    path = ""
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif step:
            path += f".{step}" if path else step
    return path


def as_lines(mistakes: Iterable[Mistake | str], source: str = "") -> str:
    """One line a mistake, each with the file in front."""
    return "\n".join(f"{source}: {mistake}" if source else str(mistake) for mistake in mistakes)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question to put behind a complaint about an unknown word; nothing if no known word is near."""
    guess = nearest(word, known)
    return f'; did you mean "{guess}"?' if guess else ""


def found_by_pydantic(error: ValidationError, schema: type[BaseModel], root: str = "") -> list[Mistake]:
    """What pydantic found in values read for ``schema``, with paths that begin at ``root``."""
    return [
        Mistake(field_path(root, *detail["loc"]), _sentence(detail, schema))
        for detail in error.errors(include_url=False)
    ]


def one_line(error: BaseException) -> str:
    """An exception by type and text, without line breaks, and where it was raised."""
    return with_place(" ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":"), error)


def shown(value: Any) -> str:
    """A value as it stands in the file, cut short."""
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


_EXPECTED = {
    "int_type": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "a string",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


def _sentence(detail: ErrorDetails, schema: type[BaseModel]) -> str:
    kind, value = detail["type"], detail["input"]
    if kind == "extra_forbidden":
        return _unknown_field(detail["loc"], schema)
    if kind == "missing":
        return "is missing, but required"
    if kind in ("value_error", "assertion_error"):
        return str(detail["ctx"]["error"])
    if kind in _EXPECTED:
        return f"must be {_EXPECTED[kind]}, not {shown(value)}"
    return f"{detail['msg'].replace('Input should', 'must')}, not {shown(value)}"


def _unknown_field(loc: Sequence[str | int], schema: type[BaseModel]) -> str:
    model = _model_at(schema, loc[:-1])
    if model is None:
        return "unknown field"
    known = [field.alias or name for name, field in model.model_fields.items()]
    if not known:
        return "unknown field; nothing can be set here"
    return f"unknown field{did_you_mean(str(loc[-1]), known) or '; known here: ' + ', '.join(known)}"


def _model_at(schema: type[BaseModel], loc: Sequence[str | int]) -> type[BaseModel] | None:
    """The model that describes the mapping at ``loc``.  List positions need no step of their own."""
    model: type[BaseModel] | None = schema
    for step in loc:
        if isinstance(step, int):
            continue
        if model is None:
            return None
        hints = (field.annotation for name, field in model.model_fields.items() if step in (field.alias, name))
        model = _model_in(next(hints, None))
    return model


def _model_in(hint: Any) -> type[BaseModel] | None:
    """The model inside ``tuple[Model, ...]``, ``Model | None`` and the like."""
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return hint
    return next((found for arg in get_args(hint) if (found := _model_in(arg)) is not None), None)
