"""
How help looks: plain text that is never cut, commands in groups, examples under each; and flags as people type them.

``main`` gives these classes to its commands.  They derive from typer's, which may carry its own copy of click, so what
that hands in has no type that can be named.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from bayplan.cli.output import write

ASK, RUN, SERVICES, DEVELOP = "Ask", "Run in a cluster", "Services", "Develop"
GROUPS = (ASK, RUN, SERVICES, DEVELOP)

WIDTH = 100
"""No line is longer on a wider terminal: it would be hard to read."""

LONGEST_NAME = 30
"""Longer ones stand on a line of their own."""

_TRUE, _FALSE = ("1", "t", "true"), ("0", "f", "false")


class Command(TyperCommand):
    """A command whose help ends with examples, and whose flags may also be written ``--flag=false``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            args = list(_plain_flags(self.get_params(ctx), args))
        return super().parse_args(ctx, args)

    def get_help_option(self, ctx: Any) -> Any:
        return _through_our_stream(super().get_help_option(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        arguments = (each for each in self.get_params(ctx) if each.param_type_name == "argument")
        return [*([self.options_metavar] if self.options_metavar else []), *map(_written, arguments)]

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        _write_paragraphs(self.help, formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _write_parameters(self.get_params(ctx), ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        _write_examples(self.epilog, formatter)


class Group(TyperGroup):
    """Commands by what they are for, each with its first sentence."""

    def get_help_option(self, ctx: Any) -> Any:
        return _through_our_stream(super().get_help_option(ctx))

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        _write_paragraphs(self.help, formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _write_parameters(self.get_params(ctx), ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        commands: dict[str, list[tuple[str, str]]] = {group: [] for group in GROUPS}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            if not command.hidden:
                panel = getattr(command, "rich_help_panel", None)
                group = panel if isinstance(panel, str) else "Commands"
                commands.setdefault(group, []).append((name, _paragraphs(command.help)[0]))
        for group, rows in commands.items():
            _write_section(group, rows, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        _write_examples(self.epilog, formatter)


def _through_our_stream(option: Any) -> Any:
    """The library looks for a stream of its own below ours, and would not tell if that one is full."""
    if option is not None:
        option.callback = _show_help
    return option


def _show_help(ctx: Any, _: Any, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        write(f"{ctx.get_help()}\n")
        ctx.exit()


# -- layout: the library's own would break words --


def _write_parameters(parameters: Iterable[Any], ctx: Any, formatter: Any) -> None:
    records: dict[str, list[tuple[str, str]]] = {"argument": [], "option": []}
    for each in parameters:
        record = each.get_help_record(ctx)
        if record is not None:
            is_argument = each.param_type_name == "argument"
            records[each.param_type_name].append((_written(each), each.help or "") if is_argument else record)
    for kind, rows in records.items():
        _write_section(f"{kind.title()}s", rows, formatter)


def _written(argument: Any) -> str:
    """An argument as it stands in the first line."""
    return str(argument.metavar or argument.name.upper())


def _write_section(title: str, rows: Sequence[tuple[str, str]], formatter: Any) -> None:
    """Names on the left, what is said of each on the right; a long name has a line of its own."""
    if not rows:
        return
    column = min(max(len(name) for name, _ in rows), LONGEST_NAME) + 2
    with formatter.section(title):
        margin = " " * formatter.current_indent
        for name, about in rows:
            wrapped = _wrapped(about, formatter.width - column - len(margin))
            if len(name) + 2 > column or not wrapped:
                formatter.write(f"{margin}{name}\n")
            else:
                formatter.write(f"{margin}{name:{column}}{wrapped.pop(0)}\n")
            formatter.write("".join(f"{margin}{'':{column}}{line}\n" for line in wrapped))


def _write_paragraphs(text: str | None, formatter: Any) -> None:
    for paragraph in _paragraphs(text):
        formatter.write("\n" + "".join(f"  {line}\n" for line in _wrapped(paragraph, formatter.width - 2)))


def _write_examples(examples: str | None, formatter: Any) -> None:
    """As they stand: a command that is wrapped cannot be copied."""
    if examples:
        with formatter.section("Examples"):
            formatter.write("".join(f"  {line}\n" for line in examples.strip().splitlines()))


def _paragraphs(text: str | None) -> list[str]:
    return [" ".join(each.split()) for each in (text or "").strip().split("\n\n")]


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), width, break_long_words=False, break_on_hyphens=False)


# -- flags --


def _plain_flags(parameters: Sequence[Any], arguments: Sequence[str]) -> Iterator[str]:
    """
    The arguments with ``--flag=true`` and ``--flag=false`` as the flag alone, its ``--no-`` form, or nothing.  A flag
    that has such a form may also have its value behind it, as in ``--flag false``.
    """
    flags = {flag: each for each in parameters if getattr(each, "is_flag", False) for flag in each.opts}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        flag = flags.get(name)
        if word == "--":
            yield from [word, *rest]
            return
        if flag is None:
            yield word
            continue
        if not equals and flag.secondary_opts and rest and rest[0].lower() in ("true", "false"):
            equals, value = "=", rest.pop(0)
        if not equals or value.lower() in _TRUE:
            yield name
        elif value.lower() not in _FALSE:
            raise typer.BadParameter(f"'{value}' is neither true nor false.", param_hint=f"'{name}'")
        elif flag.secondary_opts:
            yield flag.secondary_opts[0]
