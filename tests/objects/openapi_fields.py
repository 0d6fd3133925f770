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
SERVED = ("--runtime-config=resource.k8s.io/v1beta2=true",)
"""DeviceTaintRule has no version that is served by default."""


def lines(api: Api) -> list[str]:
    """One line for each type that the built-in kinds are made of: its fields, with the types of those that have one."""
    schemas: dict[str, Schema] = api.call("GET", "/openapi/v2")["definitions"]
    roots = {_last(full): full for full in _roots(schemas)}

    def short(full: str) -> str:
        """Its own name; with the group before it if it is also the name of a kind, as core.ResourceClaim is."""
        *_, group, _version, name = full.split(".")
        same = schemas[roots.get(name, full)]["properties"].keys() == schemas[full]["properties"].keys()
        return name if same else f"{group}.{name}"

    waiting = [*roots.values()]
    found: dict[str, str] = {}
    came_from: dict[str, str] = {}
    while waiting:
        full = waiting.pop()
        name = short(full)
        before = came_from.setdefault(name, full)
        if schemas[before]["properties"].keys() != schemas[full]["properties"].keys():
            raise ValueError(f"{full} and {before} would both be called {name}")
        if name in found:
            continue
        words = []
        for field, schema in sorted(schemas[full]["properties"].items()):
            target, is_map = _target(schema, schemas)
            if target:
                waiting.append(target)
                words.append(f"{field}:{api_fields.EACH if is_map else ''}{short(target)}")
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


def _target(schema: Schema, schemas: dict[str, Schema]) -> tuple[str, bool]:
    """The type of a field, or of what is in its list or map, if it has fields of its own; and whether it is a map."""
    reference = schema.get("$ref") or schema.get("items", {}).get("$ref")
    within = schema.get("additionalProperties", {}).get("$ref")
    target = str(reference or within or "").rpartition("/")[2]
    if not target or not schemas[target].get("properties"):
        return "", False
    return target, bool(within)


def _last(full: str) -> str:
    return full.rpartition(".")[2]


if __name__ == "__main__":
    with ControlPlane(extra_flags=SERVED) as plane:
        written = api_fields.PATH.read_text(encoding="utf-8").splitlines()
        head = [line for line in written if line.startswith("#")]
        api_fields.PATH.write_text("\n".join([*head, *lines(plane.api())]) + "\n", encoding="utf-8")
