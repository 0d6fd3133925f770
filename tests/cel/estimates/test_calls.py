"""Results of unknown length make an expression unbounded; known ones stay small."""

import pytest

from bayplan.cel import COST_LIMIT
from bayplan.cel.devices import highest_cost


@pytest.mark.parametrize(
    "expression",
    [
        "device.driver.lowerAscii().matches('a.*')",
        "device.driver.replace('a', 'bb').contains('b')",
        "device.driver.split('.').size() > 1",
        "quantity('1') == quantity('2')",
        "semver('1.0.0') == semver('1.0.0')",
        "cidr('10.0.0.0/8').containsIP('10.0.0.1')",
        "format.dns1123Label().validate(device.driver).hasValue()",
        "[3, 1].sort() == [1, 3]",
        "sets.contains(['a'], ['a'])",
    ],
)
def test_bounded(expression: str) -> None:
    assert 0 < highest_cost(expression) < 1000


@pytest.mark.parametrize(
    "expression",
    [
        "['a', 'b'].join('.') == 'a.b'",
        "['a'].isSorted()",
        "quantity('1') != quantity('2')",
        "'%s'.format(['a']) == device.driver.split('.')[0]",
        "lists.range(size(device.driver)).size() > 1",
        "dyn(device.attributes['d'].a).b.matches('a')",
    ],
)
def test_unbounded(expression: str) -> None:
    assert highest_cost(expression) > COST_LIMIT
