"""
The documents as tests see them: pages, their fenced blocks, their headings and links.

``test_documents`` calls it.  A block's first line may carry words behind the language, which renderers ignore and
tests read: ```` ```yaml cluster ````, ```` ```text message=web ````.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLUGIN_PAGES = ROOT / "docs" / "plugins"

_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: language, flags and settings of its first line, and the text."""

    page: Path
    language: str
    flags: frozenset[str]
    settings: dict[str, str]
    text: str


def pages() -> list[Path]:
    """Every document of the repository, not those of environments and caches."""
    top = sorted(ROOT.glob("*.md"))
    below = sorted(path for folder in ("docs", "examples", "benchmarks") for path in (ROOT / folder).rglob("*.md"))
    return [*top, *below]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str = "") -> Iterator[Block]:
    """The fenced blocks of a page, all or of one language."""
    for first_line, text in _BLOCK.findall(page.read_text()):
        found, *words = first_line.split() or [""]
        if language in ("", found):
            settings = dict(word.split("=", 1) for word in words if "=" in word)
            yield Block(page, found, frozenset(word for word in words if "=" not in word), settings, text)


def prose(page: Path) -> str:
    """A page without its blocks."""
    return _BLOCK.sub("", page.read_text())


def links(page: Path) -> list[str]:
    """The links of a page to files of the repository."""
    return [link for link in _LINK.findall(prose(page)) if "://" not in link and not link.startswith("mailto:")]


def anchors(page: Path) -> set[str]:
    """The names under which a page's headings can be linked to."""
    return {_slug(heading) for heading in _HEADING.findall(prose(page))}


def section(page: Path, heading: str) -> str:
    """The text below a heading, up to the next one of its rank or higher; "" if there is no such heading."""
    found = re.search(rf"^(#+) {re.escape(heading)}$", page.read_text(), re.MULTILINE)
    if found is None:
        return ""
    rest = page.read_text()[found.end() :]
    end = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def _slug(heading: str) -> str:
    plain = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return plain.replace(" ", "-")
