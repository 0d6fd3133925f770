"""JSON that is none: what is wrong, and where, in the same words with every Python."""

from __future__ import annotations

import pytest

from bayplan.errors import InputError
from bayplan.objects.files import json_reading


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ('{"a": 1,}', 1, "illegal trailing comma before end of object"),
        ('{"a": 1,\n\n \t}', 1, "illegal trailing comma before end of object"),
        ('{\n"a": [1,\n2,\n]}', 3, "illegal trailing comma before end of array"),
        ('{"a": [1\n,]}', 2, "illegal trailing comma before end of array"),
        ('{"a": {"b": [{"c": 1,}]}}', 1, "illegal trailing comma before end of object"),
        ('{"a": "x,"\n"b": 1}', 2, "expecting ',' delimiter"),
        ('{"a": [,]}', 1, "expecting value"),
        ('{"a": }', 1, "expecting value"),
        ('{\n"a" 1}', 2, "expecting ':' delimiter"),
        ('{"a": 1', 1, "expecting ',' delimiter"),
        ('{"a": 1,', 1, "expecting property name enclosed in double quotes"),
    ],
)
def test_what_is_wrong_and_in_which_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        json_reading.check(text, "a.json")
    assert str(caught.value).startswith(f"a.json:{line}: this is not JSON: {problem};")
