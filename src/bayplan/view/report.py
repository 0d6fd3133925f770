"""
A ``View`` as one file of HTML that needs nothing else: style, scripts and data are in it, and nothing is fetched.

The page's modules are put one behind the other, each after those it imports; names are unique across them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from typing import Any

import msgspec

_PAGE = files("bayplan.view") / "page"
_IMPORT = re.compile(r'^import\s[^;]*?"\./([\w.-]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\b)", re.MULTILINE)
_STYLE = re.compile(r'<link rel="stylesheet" href="([\w.-]+)">')
_SCRIPT = re.compile(r'<script type="module" src="([\w.-]+)"></script>')
# What is in the file is all there is: a browser fetches nothing for it, whatever a name in the data says.
_POLICY = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">"
)


def html(view: dict[str, Any]) -> bytes:
    """The file."""
    before, after = _template()
    # Data cannot end its element, nor begin a comment in it: that takes a "<".
    data = msgspec.json.encode(view).replace(b"<", b"\\u003c")
    return b"".join((before, b'<script type="application/json" id="view">', data, b"</script>\n", after))


@lru_cache(maxsize=1)
def _template() -> tuple[bytes, bytes]:
    """The page before and after its data."""
    page = _text("index.html")
    style, script = _STYLE.search(page), _SCRIPT.search(page)
    assert style is not None, "the page has a style"
    assert script is not None, "the page has a script"
    code = bundled(script[1]).replace("</script", "<\\/script")
    page = page.replace(style[0], f"{_POLICY}\n    <style>\n{_text(style[1])}</style>")
    before, after = page.split(script[0])
    return before.encode(), f'<script type="module">\n{code}</script>{after}'.encode()


def bundled(entry: str) -> str:
    """A module and all that it imports as one, in an order in which everything is there when it is needed."""
    ordered: dict[str, str] = {}
    under_way: set[str] = set()

    def add(name: str) -> None:
        if name in ordered or name in under_way:
            return
        under_way.add(name)
        text = _text(name)
        for imported in _IMPORT.findall(text):
            add(imported)
        ordered[name] = _EXPORT.sub("", _IMPORT.sub("", text))

    add(entry)
    return "\n".join(ordered.values())


def _text(name: str) -> str:
    return (_PAGE / name).read_text(encoding="utf-8")
