"""What names look like to an API server: DNS labels and subdomains, qualified names, names of ports."""

from __future__ import annotations

import re

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(rf"{_LABEL.pattern}(\.{_LABEL.pattern})*")
_QUALIFIED = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_PORT = re.compile(rf"(?=.{{1,15}}$)(?=.*[a-z])(?!.*--){_LABEL.pattern}")
MAX_LABEL, MAX_SUBDOMAIN = 63, 253


def is_label(name: str) -> bool:
    """Can this name a part, or a namespace?"""
    return len(name) <= MAX_LABEL and _LABEL.fullmatch(name) is not None


def is_subdomain(name: str) -> bool:
    """Can this name an object, as most kinds have them?"""
    return len(name) <= MAX_SUBDOMAIN and _SUBDOMAIN.fullmatch(name) is not None


def is_qualified(name: str) -> bool:
    """Can this be the value of a label, or the part of a key behind its "/"?"""
    return len(name) <= MAX_LABEL and _QUALIFIED.fullmatch(name) is not None


def is_port_name(name: str) -> bool:
    return _PORT.fullmatch(name) is not None
