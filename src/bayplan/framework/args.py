"""
A plugin's arguments: from ``pluginConfig[].args`` in the file to the ``args`` the plugin is made with.

``profile`` calls ``read_args`` for every plugin it makes; tests and tools call ``load_args``.  A plugin's
``Args`` is a ``PluginArgs`` model, any other pydantic model, a frozen dataclass (``max_age`` is written
``maxAge``), or ``None`` for a plugin that takes none.  A plugin with ``accepts_any_args = True`` gets what
stands in the file.
"""

from __future__ import annotations

import dataclasses
import json
import operator
import types
from functools import cache, partial, reduce
from typing import Annotated, Any, ClassVar, Literal, Protocol, Union, get_args, get_origin, get_type_hints

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.alias_generators import to_camel

from bayplan.errors import GO_THROUGH, InvalidArgsError
from bayplan.framework.config.mistakes import Mistake, as_lines, field_path, found_by_pydantic, one_line, shown


class TakesArgs(Protocol):
    """A class of plugins: of the scheduler, or of placements."""

    name: ClassVar[str]
    Args: ClassVar[Any]


class PluginArgs(BaseModel):
    """The base of the in-tree plugins' args: frozen, camelCase in the file, unknown fields refused."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        protected_namespaces=(),
    )


def load_args(plugin_cls: type[TakesArgs], raw: Any, path: str) -> Any:
    """The args object for a plugin; ``InvalidArgsError`` lists every mistake, one a line, behind its path."""
    args, mistakes = read_args(plugin_cls, raw, path)
    if mistakes:
        raise InvalidArgsError(as_lines(mistakes))
    return args


def read_args(plugin_cls: type[TakesArgs], raw: Any, path: str) -> tuple[Any, list[Mistake]]:
    """As ``load_args``, with the mistakes returned, for callers that collect more of them."""
    if getattr(plugin_cls, "accepts_any_args", False):
        return ({} if raw is None else raw), []
    if raw is not None and not isinstance(raw, dict):
        return None, [Mistake(path, f"must be a mapping of {plugin_cls.name}'s args, not {shown(raw)}")]
    values, mistakes = _without_type(plugin_cls.name, raw or {}, path)
    if plugin_cls.Args is None:
        if values:
            fields = ", ".join(f'"{name}"' for name in values)
            mistakes.append(Mistake(path, f"{plugin_cls.name} takes no args; remove {fields}"))
        return None, mistakes
    args, more = _validated(plugin_cls, plugin_cls.Args, values, path)
    return args, mistakes + more


def without_nulls(value: Any) -> Any:
    """The same values without fields that are null: as in Go, ``field: null`` leaves the default alone."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def _without_type(name: str, raw: dict[str, Any], path: str) -> tuple[dict[str, Any], list[Mistake]]:
    """The args without ``apiVersion`` and ``kind``, which may be given as in kube-scheduler's files."""
    values = {key: value for key, value in raw.items() if key not in ("apiVersion", "kind")}
    kind = raw.get("kind")
    if kind in (None, f"{name}Args"):
        return values, []
    return values, [Mistake(field_path(path, "kind"), f'must be "{name}Args" or left out, not {shown(kind)}')]


def _validated(
    plugin_cls: type[TakesArgs], args_cls: type[Any], values: dict[str, Any], path: str
) -> tuple[Any, list[Mistake]]:
    try:
        schema, adapter = _reader(args_cls)
    except (TypeError, NameError) as error:
        return None, [Mistake(path, f"the type {plugin_cls.__name__}.Args cannot be read: {error}")]
    # The values come from YAML or JSON.  Reading them as JSON keeps numbers, text and booleans strictly apart
    # and still takes a list for a tuple and text for an enum.
    text = json.dumps(without_nulls(values), default=str)
    by_name = False if issubclass(schema, PluginArgs) else None
    try:
        return adapter.validate_json(text, strict=True, by_alias=True, by_name=by_name), []
    except ValidationError as error:
        return None, found_by_pydantic(error, schema, path)
    except GO_THROUGH:
        raise
    except BaseException as error:  # a check of the plugin's own may raise anything
        return None, [Mistake(path, f"checking them with {plugin_cls.__name__}.Args failed: {one_line(error)}")]


def _reader(args_cls: type[Any]) -> tuple[type[BaseModel], TypeAdapter[Any]]:
    """The model that describes the args, and what makes them."""
    if isinstance(args_cls, type) and issubclass(args_cls, BaseModel):
        return args_cls, TypeAdapter(args_cls)
    if dataclasses.is_dataclass(args_cls):
        return _model_of(args_cls), TypeAdapter(_readable(args_cls))
    raise TypeError("it must be a dataclass or a pydantic model")


# -- dataclasses --


@cache
def _model_of(cls: type[Any]) -> type[BaseModel]:
    """A model with a dataclass's fields.  It checks the values; the dataclass itself brings its defaults."""
    hints = get_type_hints(cls, include_extras=True)
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(cls):
        if field.init:
            is_required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            default = Field(alias=to_camel(field.name)) if is_required else Field(None, alias=to_camel(field.name))
            fields[_own(field.name)] = (_readable(hints[field.name]), default)
    return create_model(cls.__name__, __base__=PluginArgs, **fields)


def _own(name: str) -> str:
    """A field's name in the model: prefixed, since names such as ``json`` are taken there."""
    return f"arg_{name}"


def _readable(hint: Any) -> Any:
    """A type hint with each dataclass in it replaced by its model, and made into the dataclass again."""
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return Annotated[_model_of(hint), AfterValidator(partial(_made, hint))]
    origin, parts = get_origin(hint), get_args(hint)
    if origin is None or origin is Literal:
        return hint
    if origin is Annotated:
        return Annotated[(_readable(parts[0]), *parts[1:])]
    if origin in (Union, types.UnionType):
        return reduce(operator.or_, map(_readable, parts))
    return origin[tuple(_readable(part) for part in parts)]


def _made(cls: type[Any], model: BaseModel) -> Any:
    """The dataclass, given only what was written, so that its own defaults and checks apply."""
    given = model.model_fields_set
    names = (field.name for field in dataclasses.fields(cls) if field.init)
    return cls(**{name: getattr(model, _own(name)) for name in names if _own(name) in given})
