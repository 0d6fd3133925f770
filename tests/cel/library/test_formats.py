"""Named formats."""

import pytest

from tests.cel.evaluating import value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("format.dns1123Label().validate('a-b').hasValue()", False),
        ("format.dns1123Label().validate('A').hasValue()", True),
        ("format.dns1123LabelPrefix().validate('a-').hasValue()", False),
        ("format.dns1123Subdomain().validate('a.b').hasValue()", False),
        ("format.dns1035Label().validate('1a').hasValue()", True),
        ("format.qualifiedName().validate('a.b/C_d').hasValue()", False),
        ("format.labelValue().validate('').hasValue()", False),
        ("format.uri().validate('/a').hasValue()", False),
        ("format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()", False),
        ("format.byte().validate('YQ==').hasValue()", False),
        ("format.byte().validate('Y').hasValue()", True),
        ("format.date().validate('2024-02-30').hasValue()", True),
        ("format.datetime().validate('2024-02-29T00:00:00Z').hasValue()", False),
        ("format.named('uuid').hasValue()", True),
        ("format.named('nothing').hasValue()", False),
    ],
)
def test_values(expression: str, expected: object) -> None:
    assert value(expression) == expected
