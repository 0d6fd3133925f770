"""The table of field names that the API server knows, made from its own OpenAPI document.

`python -m tests.objects.openapi_fields` starts a real API server and writes `src/bayplan/objects/admission/api_fields.txt` anew;
a test compares that file with what the server says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bayplan.objects import kinds
from bayplan.objects.admission import api_fields
from tests.support.api import Api
from tests.support.control_plane import ControlPlane

Schema = dict[str, Any]


def lines(api: Api) -> list[str]:
    """One line for each type that the built-in kinds are made of: its fields, with the types of those that have one."""
    schemas: dict[str, Schema] = api.call("GET", "/openapi/v2")["definitions"]
    waiting = [*_roots(schemas)]
    found: dict[str, str] = {}
    came_from: dict[str, str] = {}
    while waiting:
        full = waiting.pop()
        name = _short(full)
        if came_from.setdefault(name, full) != full:
            raise ValueError(f"{full} and {came_from[name]} would both be called {name}")
        if name in found:
            continue
        words = []
        for field, schema in sorted(schemas[full]["properties"].items()):
            target = _target(schema, schemas)
            if target:
                waiting.append(target)
                words.append(f"{field}:{_short(target)}")
            else:
                words.append(field)
        found[name] = f"{name} {' '.join(words)}"
    return [found[name] for name in sorted(found)]


def _roots(schemas: dict[str, Schema]) -> Iterator[str]:
    wanted = {(kind.group, kind.version, kind.name) for kind in kinds.all_kinds() if kinds.is_built_in(kind)}
    for name, schema in schemas.items():
        for each in schema.get("x-kubernetes-group-version-kind", ()):
            if (each["group"], each["version"], each["kind"]) in wanted:
                yield name


def _target(schema: Schema, schemas: dict[str, Schema]) -> str:
    """The type of a field, or of the items of a list, if it has fields of its own."""
    reference = schema.get("$ref") or schema.get("items", {}).get("$ref")
    within = schema.get("additionalProperties", {}).get("$ref")
    target = str(reference or within or "").rpartition("/")[2]
    if not target or not schemas[target].get("properties"):
        return ""
    if within:
        raise ValueError(f"a map of {target}: the table has no word for this yet")
    return target


def _short(full: str) -> str:
    return full.rpartition(".")[2]


if __name__ == "__main__":
    with ControlPlane() as plane:
        written = api_fields.PATH.read_text(encoding="utf-8").splitlines()
        head = [line for line in written if line.startswith("#")]
        api_fields.PATH.write_text("\n".join([*head, *lines(plane.api())]) + "\n", encoding="utf-8")
