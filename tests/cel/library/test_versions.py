"""Semantic versions."""

import pytest

from tests.cel.evaluating import error, value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("semver('1.2.3').isLessThan(semver('1.10.0'))", True),
        ("semver('1.0.0-rc.1').isLessThan(semver('1.0.0'))", True),
        ("semver('1.0.0-rc.2').isLessThan(semver('1.0.0-rc.10'))", True),
        ("semver('1.0.0-1').isLessThan(semver('1.0.0-a'))", True),
        ("semver('1.0.0+a') == semver('1.0.0+b')", True),
        ("semver('v1.02', true) == semver('1.2.0')", True),
        ("semver('1.2.3').major() + semver('1.2.3').minor() + semver('1.2.3').patch()", 6),
        ("semver('2.0.0').compareTo(semver('1.0.0'))", 1),
        ("isSemver('1.2')", False),
        ("isSemver('1.2', true)", True),
        ("isSemver('01.2.3')", False),
    ],
)
def test_values(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("semver('1.2')", "No Major.Minor.Patch elements found"),
        ("semver('1.2-a', true)", "short version cannot contain PreRelease/Build meta data"),
    ],
)
def test_errors(expression: str, expected: str) -> None:
    assert error(expression) == expected
