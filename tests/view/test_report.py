"""The page as one file: nothing is fetched, and no name in the data gets out of it."""

from __future__ import annotations

import json
import re

import pytest

from bayplan.view import report
from bayplan.view.documents import Origin, fact, view
from bayplan.view.report import bundled, html

EVIL = "</script><script>alert(1)</script><!--"


def data_of(page: str) -> object:
    found = re.search(r'<script type="application/json" id="view">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_the_data_is_in_the_page_as_it_was() -> None:
    made = view(Origin("simulate", "bayplan simulate"), facts=[fact("Pods", 3)])
    assert data_of(html(made).decode()) == made


def test_nothing_in_the_data_ends_its_element() -> None:
    made = view(Origin("simulate", EVIL), facts=[fact(EVIL, EVIL, EVIL)])
    page = html(made).decode()
    assert data_of(page) == made
    assert "alert(1)</script>" not in page


def test_nothing_is_fetched() -> None:
    page = html(view(Origin("simulate", ""))).decode()
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', page) == []
    assert "default-src 'none'" in page
    assert re.findall(r"^\s*(?:import|export)\b(?! *\()", page, re.MULTILINE) == []


def test_modules_come_after_those_they_import_and_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "page.js": 'import { b } from "./b.js";\nimport {\n  c,\n} from "./c.js";\nb(c);\n',
        "b.js": 'import { c } from "./c.js";\nexport function b() { return c; }\n',
        "c.js": "export const c = 1;\nexport async function f() {}\n",
    }
    monkeypatch.setattr(report, "_text", texts.__getitem__)
    assert bundled("page.js").split("\n") == [
        "const c = 1;", "async function f() {}", "", "function b() { return c; }", "", "b(c);", "",
    ]  # fmt: skip
