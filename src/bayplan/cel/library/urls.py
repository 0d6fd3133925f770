"""Absolute URLs: `url("https://example.com:80/a?b=c").getHost()`."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, parse_qs, quote, unquote, urlsplit

from bayplan.cel import costs
from bayplan.cel.errors import EvaluationError
from bayplan.cel.functions import function
from bayplan.cel.values import quoted

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:", re.ASCII)
_PLAIN_PATH = re.compile(r"[!$&'()*+,;=:@\[\]A-Za-z0-9\-_.~/%]*")
_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PORT = re.compile(r"(?:\[[0-9A-Fa-f:.%]*\]|[^:\[\]]*)(?::([0-9]*))?", re.ASCII)


class Url:
    __slots__ = ("text", "parts")
    cel_type = "kubernetes.URL"

    def __init__(self, text: str, parts: SplitResult) -> None:
        self.text, self.parts = text, parts

    @property
    def host(self) -> str:
        return unquote(self.parts.netloc.rpartition("@")[2])

    @property
    def port(self) -> str:
        found = _PORT.fullmatch(self.host)
        return (found[1] or "") if found else ""

    @property
    def hostname(self) -> str:
        host = self.host.removesuffix(f":{self.port}") if self.port else self.host.removesuffix(":")
        return host[1:-1] if host.startswith("[") else host

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Url) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


def url(text: str) -> Url:
    """A path that begins with a slash, or a scheme with what follows it; EvaluationError for the rest."""
    problem = _problem(text)
    if not problem:
        try:
            parts = urlsplit(text)
            is_opaque = parts.scheme and not text[len(parts.scheme) + 1 :].startswith("/")
            return Url(text, parts._replace(path="") if is_opaque else parts)
        except ValueError as error:
            problem = str(error)
    raise EvaluationError(f"URL parse error during conversion from string: parse {quoted(text)}: {problem}")


def _problem(text: str) -> str:
    if not text:
        return "empty url"
    if any(ord(letter) < 0x20 or ord(letter) == 0x7F for letter in text):
        return "net/url: invalid control character in URL"
    scheme = _SCHEME.match(text)
    if scheme is None and not text.startswith("/"):
        return "invalid URI for request"
    rest = text[scheme.end() :] if scheme else text
    if _PERCENT.search(rest.partition("?")[0]):
        return "invalid URL escape"
    host = re.split(r"[/?#]", rest[2:], maxsplit=1)[0].rpartition("@")[2] if rest.startswith("//") else ""
    if not _PORT.fullmatch(host) or re.search(r"[ <>\"]", host):
        return "invalid character in host name"
    return ""


def _is_url(text: str) -> bool:
    try:
        url(text)
    except EvaluationError:
        return False
    return True


def _escaped_path(given: Url) -> str:
    path = given.parts.path
    return path if _PLAIN_PATH.fullmatch(path) else quote(unquote(path), safe="/:@&=+$,;~")


def _query(given: Url) -> dict[str, list[str]]:
    return parse_qs(given.parts.query, keep_blank_values=True)


FUNCTIONS = (
    function("url", ("string_to_url", "(string) -> url", url), cost=costs.traversal),
    function("isURL", ("is_url_string", "(string) -> bool", _is_url)),
    function("getScheme", ("url_get_scheme", "url.() -> string", lambda given: given.parts.scheme)),
    function("getHost", ("url_get_host", "url.() -> string", lambda given: given.host)),
    function("getHostname", ("url_get_hostname", "url.() -> string", lambda given: given.hostname)),
    function("getPort", ("url_get_port", "url.() -> string", lambda given: given.port)),
    function("getEscapedPath", ("url_get_escaped_path", "url.() -> string", _escaped_path)),
    function("getQuery", ("url_get_query", "url.() -> map<string, list<string>>", _query)),
)
