"""Plain tables: aligned, never cut off, colours take no room."""

from __future__ import annotations

from bayplan.text_layout import listed, plain, table, width


def test_columns_are_as_wide_as_their_widest_cell_and_lines_end_without_blanks() -> None:
    assert table(["A", "LONGER"], [["wide one", "x"], ["y", ""]]) == "A          LONGER\nwide one   x\ny"


def test_colours_do_not_count() -> None:
    assert width("\x1b[1;32mBound\x1b[0m") == 5
    assert table(["S", "N"], [["\x1b[32mok\x1b[0m", "1"]]).splitlines()[1] == "\x1b[32mok\x1b[0m   1"


def test_a_table_without_rows_is_its_header() -> None:
    assert table(["A", "B"], []) == "A   B"


def test_plain_changes_nothing() -> None:
    assert plain("Bound") == "Bound"


def test_a_long_list_names_the_first_and_counts_the_rest() -> None:
    assert listed(["a", "b"], 2) == "a, b"
    assert listed(["a", "b", "c", "d"], 2) == "a, b and 2 more"
    assert listed([], 2) == ""
