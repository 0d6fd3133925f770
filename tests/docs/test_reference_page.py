"""The reference of what Python sees is made of the code, and up to date."""

from __future__ import annotations

import bayplan.testing
from tests.docs import reference_page


def test_the_page_is_what_the_code_says() -> None:
    """After a change on purpose: make reference."""
    assert reference_page.PAGE.read_text() == reference_page.page()


def test_everything_that_testing_offers_is_on_it() -> None:
    told = reference_page.page()

    assert [name for name in bayplan.testing.__all__ if f"### {name}\n" not in told and f"| `{name}(" not in told] == []
