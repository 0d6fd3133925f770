"""The modules keep to what a report can put into one script, and to what a policy without inline code allows."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.page.serving import PAGE

MODULES = sorted(PAGE.glob("*.js"))


def test_every_top_level_name_is_in_one_module() -> None:
    names = Counter(
        name
        for path in MODULES
        for name in re.findall(
            r"^(?:export )?(?:async )?(?:function|class|const|let) (\w+)", path.read_text(), re.MULTILINE
        )
    )
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_a_module_imports_plainly_and_writes_no_markup(path) -> None:
    text = path.read_text()
    imports = re.findall(r"^import[^;]*;", text, re.MULTILINE)
    assert all(re.fullmatch(r'import \{[\w,\s]+\} from "\./\w+\.js";', each) for each in imports)
    assert re.findall(r"^export (?!function |async function |class |const ).*", text, re.MULTILINE) == []
    assert (
        re.findall(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|localStorage|cookie|https?://(?!www\.w3\.org/2000/svg)",
            text,
        )
        == []
    )
    assert len(text.splitlines()) <= 400


def test_the_page_itself_has_no_inline_code() -> None:
    text = (PAGE / "index.html").read_text()
    assert re.findall(r"<script(?! type=\"module\" src=)|<style|\son\w+=|\sstyle=", text) == []
    assert text.count('<link rel="stylesheet" href="style.css">') == 1
    assert text.count('<script type="module" src="page.js"></script>') == 1
