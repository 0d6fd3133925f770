"""IP addresses and networks: `cidr("10.0.0.0/8").containsIP("10.1.2.3")`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface, ip_address, ip_interface
from math import ceil
from typing import Any

from bayplan.cel import costs
from bayplan.cel.errors import EvaluationError, no_such_overload
from bayplan.cel.functions import Function, function
from bayplan.cel.values import quoted, size


class Address:
    __slots__ = ("address",)
    cel_type = "net.IP"

    def __init__(self, address: IPv4Address | IPv6Address) -> None:
        self.address = address

    @property
    def cel_size(self) -> int:
        return self.address.max_prefixlen // 8

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Address) and self.address == other.address

    def __hash__(self) -> int:
        return hash(self.address)


class Network:
    """An address with the length of its prefix."""

    __slots__ = ("interface",)
    cel_type = "net.CIDR"

    def __init__(self, interface: IPv4Interface | IPv6Interface) -> None:
        self.interface = interface

    @property
    def prefix(self) -> int:
        return self.interface.network.prefixlen

    @property
    def cel_size(self) -> int:
        return ceil(self.prefix / 8)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Network) and self.interface == other.interface

    def __hash__(self) -> int:
        return hash(self.interface)


def _address(text: str) -> Address:
    try:
        made = ip_address(text)
    except ValueError:
        given = quoted(text)
        told = f"IP Address {given} parse error during conversion from string: ParseAddr({given}): unable to parse IP"
        raise EvaluationError(told) from None
    if isinstance(made, IPv6Address):
        if made.scope_id is not None:
            raise EvaluationError(f"IP address {quoted(text)} with zone value is not allowed")
        if made.ipv4_mapped is not None:
            raise EvaluationError(f"IPv4-mapped IPv6 address {quoted(text)} is not allowed")
    return Address(made)


def _network(text: str) -> Network:
    _, slash, bits = text.partition("/")
    is_plain = slash and bits.isdecimal() and bits.isascii() and (bits == "0" or bits[0] != "0") and "%" not in text
    try:
        made = ip_interface(text) if is_plain else None
    except ValueError:
        made = None
    if made is None:
        problem = "no '/'" if not slash else "unable to parse IP"
        told = "network address parse error during conversion from string: " * 2
        raise EvaluationError(f"{told}netip.ParsePrefix({quoted(text)}): {problem}")
    if isinstance(made.ip, IPv6Address) and made.ip.ipv4_mapped is not None:
        raise EvaluationError(f"IPv4-mapped IPv6 address {quoted(text)} is not allowed")
    return Network(made)


def _succeeds(parse: Callable[[str], Any]) -> Callable[[str], bool]:
    def run(text: str) -> bool:
        try:
            parse(text)
        except EvaluationError:
            return False
        return True

    return run


def _is_canonical(text: str) -> bool:
    return str(_address(text).address) == text


def _contains_address(network: Network, address: Address) -> bool:
    return address.address in network.interface.network


def _contains_text(network: Network, text: str) -> bool:
    try:
        return _contains_address(network, _address(text))
    except EvaluationError:
        raise no_such_overload() from None


def _contains_network(network: Network, other: Network) -> bool:
    mine, its = network.interface.network, other.interface.network
    return mine.version == its.version and its.network_address in mine and mine.prefixlen <= its.prefixlen


def _is_global_unicast(given: Address) -> bool:
    address = given.address
    is_broadcast = isinstance(address, IPv4Address) and int(address) == 2**32 - 1
    excluded = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not (is_broadcast or excluded)


def _is_link_local_multicast(given: Address) -> bool:
    address = given.address
    if isinstance(address, IPv4Address):
        return int(address) >> 8 == 0xE00000
    return address.packed[0] == 0xFF and address.packed[1] & 0x0F == 2


def _masked(network: Network) -> Network:
    made = network.interface.network
    return Network(ip_interface(f"{made.network_address}/{made.prefixlen}"))


def _address_comparison(arguments: Sequence[Any], result: Any) -> int:
    return ceil(2 * size(arguments[0]) * costs.PER_CHARACTER)


def _network_comparison(arguments: Sequence[Any], result: Any) -> int:
    return _address_comparison(arguments, result) + ceil(size(arguments[0]) * costs.PER_CHARACTER) + 1


def _and_parsed(cost: Callable[[Sequence[Any], Any], int]) -> Callable[[Sequence[Any], Any], int]:
    """The second argument is a text that is read first."""
    return lambda arguments, result: cost(arguments, result) + ceil(size(arguments[1]) * costs.PER_CHARACTER)


def _test(name: str, overload: str, of: Callable[[Address], bool]) -> Function:
    return function(name, (overload, "ip.() -> bool", of))


FUNCTIONS = (
    function(
        "ip",
        ("string_to_ip", "(string) -> ip", _address),
        ("cidr_ip", "cidr.() -> ip", lambda network: Address(network.interface.ip), 1),
        cost=costs.traversal,
    ),
    function("isIP", ("is_ip", "(string) -> bool", _succeeds(_address)), cost=costs.traversal),
    function("ip.isCanonical", ("ip_is_canonical", "(string) -> bool", _is_canonical), cost=costs.traversal_and_copy),
    function("family", ("ip_family", "ip.() -> int", lambda given: given.address.version)),
    _test("isUnspecified", "ip_is_unspecified", lambda given: given.address.is_unspecified),
    _test("isLoopback", "ip_is_loopback", lambda given: given.address.is_loopback),
    _test("isLinkLocalMulticast", "ip_is_link_local_multicast", _is_link_local_multicast),
    _test("isLinkLocalUnicast", "ip_is_link_local_unicast", lambda given: given.address.is_link_local),
    _test("isGlobalUnicast", "ip_is_global_unicast", _is_global_unicast),
    function("cidr", ("string_to_cidr", "(string) -> cidr", _network), cost=costs.traversal),
    function("isCIDR", ("is_cidr", "(string) -> bool", _succeeds(_network)), cost=costs.traversal),
    function(
        "containsIP",
        ("cidr_contains_ip_string", "cidr.(string) -> bool", _contains_text, _and_parsed(_address_comparison)),
        ("cidr_contains_ip_ip", "cidr.(ip) -> bool", _contains_address),
        cost=_address_comparison,
    ),
    function(
        "containsCIDR",
        (
            "cidr_contains_cidr_string",
            "cidr.(string) -> bool",
            lambda network, text: _contains_network(network, _network(text)),
            _and_parsed(_network_comparison),
        ),
        ("cidr_contains_cidr", "cidr.(cidr) -> bool", _contains_network),
        cost=_network_comparison,
    ),
    function("prefixLength", ("cidr_prefix_length", "cidr.() -> int", lambda network: network.prefix)),
    function("masked", ("cidr_masked", "cidr.() -> cidr", _masked)),
    function(
        "string",
        ("ip_to_string", "(ip) -> string", lambda given: str(given.address)),
        ("cidr_to_string", "(cidr) -> string", lambda network: f"{network.interface.ip}/{network.prefix}"),
    ),
)
