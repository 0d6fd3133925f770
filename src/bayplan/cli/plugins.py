"""``bayplan plugins``: every plugin there is, where it comes from, and what it takes part in."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bayplan.cli import options
from bayplan.cli.output import Shape, show

EXAMPLES = """\
bayplan plugins
bayplan plugins --plugin same_rack.py:SameRack -o json
"""


def plugins(
    plugin: options.PluginSpecs = None,
    output: Annotated[Shape, typer.Option("--output", "-o", help="How to show the list.")] = Shape.TABLE,
    verbose: options.Verbose = False,
) -> int:
    """List every registered plugin, where it comes from, its extension points and its default weight."""
    document = listing(plugin or [])
    show(document, output, lambda: _text(document))
    return 0


def listing(specs: list[str]) -> dict[str, Any]:
    """The document ``kind: PluginList``."""
    from bayplan.framework.config.expansion import default_weight
    from bayplan.framework.config.model import in_file
    from bayplan.plugins.defaults import DEFAULT_PLUGINS
    from bayplan.plugins.plugin_set import registry
    from bayplan.simulator.explain.explanation import API_VERSION

    known, _ = registry(specs)
    weights = {default.name: default.weight for default in DEFAULT_PLUGINS}
    items = [
        {
            "name": entry.name,
            "origin": entry.origin,
            "extensionPoints": [in_file(point) for point in entry.extension_points],
            "enabledByDefault": entry.name in weights,
            "defaultWeight": weights.get(entry.name, own) if "score" in entry.extension_points else None,
            "description": description(entry.cls),
        }
        for entry in known
        for own in (default_weight(entry.cls),)
    ]
    return {"apiVersion": API_VERSION, "kind": "PluginList", "plugins": items}


def description(cls: type[Any]) -> str:
    """The first sentence about a plugin, without its name: of its module, or of the class itself."""
    import sys

    for text in (getattr(sys.modules.get(cls.__module__), "__doc__", None), cls.__doc__):
        first = _first_sentence(text or "")
        before, colon, after = first.partition(": ")
        if colon and before == cls.name:
            return after
    return _first_sentence(cls.__doc__ or "")


def _first_sentence(text: str) -> str:
    paragraph = text.strip().partition("\n\n")[0]
    return " ".join(paragraph.split())


def _text(document: dict[str, Any]) -> str:
    from bayplan.text_layout import table

    rows = [
        [
            plugin["name"],
            plugin["origin"],
            "-" if plugin["defaultWeight"] is None else str(plugin["defaultWeight"]),
            ",".join(plugin["extensionPoints"]),
            plugin["description"] or "-",
        ]
        for plugin in document["plugins"]
    ]
    return table(["NAME", "ORIGIN", "WEIGHT", "EXTENSION-POINTS", "DESCRIPTION"], rows)
