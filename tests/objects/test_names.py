"""What an API server takes for a name."""

from __future__ import annotations

import pytest

from bayplan.objects.names import is_label, is_port_name, is_qualified, is_subdomain


@pytest.mark.parametrize(
    ("name", "label", "subdomain", "qualified", "port"),
    [
        ("web-1", True, True, True, True),
        ("web.example.com", False, True, True, False),
        ("a..b", False, False, True, False),
        ("a.-b", False, False, True, False),
        ("Web_1", False, False, True, False),
        ("-web", False, False, False, False),
        ("8080", True, True, True, False),
        ("a--b", True, True, True, False),
        ("", False, False, False, False),
        ("a\n", False, False, False, False),
        ("a" * 16, True, True, True, False),
        ("a" * 64, False, True, False, False),
        ("a" * 254, False, False, False, False),
    ],
)
def test_what_can_be_a_name(name: str, label: bool, subdomain: bool, qualified: bool, port: bool) -> None:
    found = is_label(name), is_subdomain(name), is_qualified(name), is_port_name(name)
    assert found == (label, subdomain, qualified, port)
