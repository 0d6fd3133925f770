"""What nobody calls goes: vulture finds functions, classes, methods and constants of `src` that `src` does not use."""

from __future__ import annotations

from pathlib import Path

from vulture import Vulture

from bayplan import framework

SOURCE = Path(__file__).resolve().parents[2] / "src"

ALLOWED = {
    "__getattr__": "Python calls it",
    "allow": "plugins call it on a pod that waits on Permit",
    "collect_usage_pieces": "typer calls it",
    "format_epilog": "typer calls it",
    "format_help_text": "typer calls it",
    "format_options": "typer calls it",
    "list_sticky": "typer calls it",
    "connection_lost": "asyncio calls it",
    "connection_made": "asyncio calls it",
    "data_received": "asyncio calls it",
    "eof_received": "asyncio calls it",
    "on_body": "httptools calls it",
    "on_header": "httptools calls it",
    "on_headers_complete": "httptools calls it",
    "on_message_begin": "httptools calls it",
    "on_message_complete": "httptools calls it",
    "ascend_resolver": "PyYAML calls it",
    "descend_resolver": "PyYAML calls it",
}
# pydantic calls what is decorated so.
VALIDATORS = ("@field_validator", "@model_validator")
# For plugin authors, who call what we do not.
PUBLIC = SOURCE / "bayplan" / "testing"


def unused() -> dict[str, str]:
    found = Vulture(ignore_decorators=VALIDATORS)
    found.scavenge([SOURCE])
    named: dict[str, str] = {}
    for item in found.get_unused_code():
        line = item.filename.read_text().splitlines()[item.first_lineno - 1]
        is_field = item.typ in ("variable", "attribute") and line.startswith(" ")  # read by a format, or by plugins
        is_exempt = item.filename.is_relative_to(PUBLIC)
        if not (is_field or is_exempt or item.name in framework.__all__):
            named[item.name] = f"{item.filename.relative_to(SOURCE)}:{item.first_lineno}"
    return named


def test_everything_is_called() -> None:
    assert {name: where for name, where in unused().items() if name not in ALLOWED} == {}


def test_what_libraries_call_is_still_there() -> None:
    called = {name for name, reason in ALLOWED.items() if reason.endswith("calls it")}
    assert called - unused().keys() == set()
