"""Addresses and networks."""

import pytest

from tests.cel.evaluating import error, value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("ip('10.0.0.1').family()", 4),
        ("ip('::1').isLoopback()", True),
        ("ip('fe80::1').isLinkLocalUnicast()", True),
        ("ip('224.0.0.1').isLinkLocalMulticast()", True),
        ("ip('0.0.0.0').isUnspecified()", True),
        ("ip('10.0.0.1').isGlobalUnicast()", True),
        ("ip('255.255.255.255').isGlobalUnicast()", False),
        ("isIP('10.0.0.256')", False),
        ("isIP('::ffff:10.0.0.1')", False),
        ("ip.isCanonical('::1')", True),
        ("ip.isCanonical('0:0::1')", False),
        ("cidr('10.0.0.0/8').containsIP('10.1.2.3')", True),
        ("cidr('10.0.0.0/8').containsIP(ip('11.1.2.3'))", False),
        ("cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", True),
        ("cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))", False),
        ("cidr('10.1.2.3/16').masked() == cidr('10.1.0.0/16')", True),
        ("cidr('10.1.2.3/16').prefixLength()", 16),
        ("string(cidr('10.1.2.3/16').ip())", "10.1.2.3"),
        ("string(cidr('10.1.2.3/16'))", "10.1.2.3/16"),
        ("isCIDR('10.0.0.0/33')", False),
    ],
)
def test_values(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("cidr('10.0.0.0/8').containsIP('x')", "no such overload"),
    ],
)
def test_errors(expression: str, expected: str) -> None:
    assert error(expression) == expected
