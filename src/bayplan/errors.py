"""Every error Bayplan raises on purpose.

Everyone raises these; the command line and the services turn them into one line for a person.

    BayplanError
      ConfigError            the user can fix the configuration
        UnknownPluginError     a profile names a plugin that is not registered
        DuplicatePluginError   two plugins claim one name
        InvalidArgsError       a plugin's arguments are wrong
        InvalidProfileError    a profile cannot work as written
      InputError             the user can fix the manifest: file, line, object, field, what to write
        InputErrors            several of them, found in one pass
      PluginError            a plugin raised: which one, where, for which pod, and the cause
      StateError             the cache or the queue was told the impossible: which pod, and what was asked
      ApiError               the API server said no
        ClientError            4xx: Unauthorized, Forbidden, NotFound, Conflict, Gone, Unprocessable,
                               TooManyRequests, EvictionRefused (each <Name>Error)
        ServerError            5xx
      TransportError         the network
      ExtenderError          an extender failed, or its answer makes no sense
      MetricsError           Prometheus failed, or its answer makes no sense
      LeadershipLostError    another replica leads now
"""

from __future__ import annotations

from collections.abc import Iterable

from bayplan.raising import with_place

GO_THROUGH = KeyboardInterrupt
"""What a call into a plugin lets through: the process is being ended.  Whatever else comes out of the call is the
plugin's own doing, also ``SystemExit`` and ``GeneratorExit``; `engine.plugin_calls.is_ended` is for what is awaited."""


class BayplanError(Exception):
    """The root of the tree; `except BayplanError` catches everything Bayplan raises on purpose."""


class ConfigError(BayplanError):
    """The configuration is wrong and the user can fix it."""


class UnknownPluginError(ConfigError):
    """A profile names a plugin that is not registered."""


class DuplicatePluginError(ConfigError):
    """Two plugins were registered under one name."""


class InvalidArgsError(ConfigError):
    """A plugin's arguments are wrong."""


class InvalidProfileError(ConfigError):
    """A profile cannot work as it is written."""


class InputError(BayplanError):
    """One mistake in a manifest, as one line that says where it is and what to write instead.

    The line reads ``file:line: Kind ns/name: field: problem; fix``; parts that are not known are left out.
    """

    def __init__(
        self,
        problem: str,
        *,
        source: str = "",
        line: int = 0,
        object: str = "",
        field: str = "",
        fix: str = "",
    ) -> None:
        self.problem = problem
        self.source = source
        self.line = line
        self.object = object
        self.field = field
        self.fix = fix
        super().__init__(problem)

    def located(self, source: str, line: int = 0, object: str = "") -> InputError:
        """The same mistake with the place filled in where it was not known yet."""
        return InputError(
            self.problem,
            source=self.source or source,
            line=self.line or line,
            object=self.object or object,
            field=self.field,
            fix=self.fix,
        )

    def __str__(self) -> str:
        place = f"{self.source}:{self.line}" if self.source and self.line else self.source
        parts = [part for part in (place, self.object, self.field, self.problem) if part]
        line = ": ".join(parts)
        if self.fix:
            line = f"{line}; {self.fix}"
        return " ".join(line.split())


class InputErrors(InputError):
    """Several mistakes found in one pass, one line each."""

    def __init__(self, errors: Iterable[InputError]) -> None:
        self.errors: tuple[InputError, ...] = tuple(errors)
        super().__init__(f"{len(self.errors)} mistakes in the input")

    def __str__(self) -> str:
        return "\n".join(str(error) for error in self.errors)


class PluginError(BayplanError):
    """A plugin raised where it should have returned a status."""

    def __init__(self, plugin: str, extension_point: str, pod: str, cause: BaseException | str) -> None:
        self.plugin = plugin
        self.extension_point = extension_point
        self.pod = pod
        self.cause = cause
        super().__init__(plugin, extension_point, pod, cause)

    def __str__(self) -> str:
        cause = self.cause
        what = cause if isinstance(cause, str) else _told(cause)
        return f"plugin {self.plugin} failed in {self.extension_point} for pod {self.pod}: {what}"


def _told(cause: BaseException) -> str:
    return with_place(f"{type(cause).__name__}: {cause}".removesuffix(": "), cause)


class StateError(BayplanError):
    """The cache or the queue was told something that cannot be."""


class ApiError(BayplanError):
    """The API server answered with an error status."""

    def __init__(self, status: int, message: str, *, reason: str = "", method: str = "", path: str = "") -> None:
        self.status = status
        self.message = message
        self.reason = reason
        self.method = method
        self.path = path
        super().__init__(message)

    def __str__(self) -> str:
        request = f"{self.method} {self.path}: ".lstrip() if self.path else ""
        reason = f" {self.reason}" if self.reason else ""
        return f"{request}{self.status}{reason}: {self.message}"


class ClientError(ApiError):
    """4xx: the request was wrong or not allowed."""


class UnauthorizedError(ClientError):
    """401: the credentials are missing or no longer good."""


class ForbiddenError(ClientError):
    """403: the credentials are good, the permission is missing."""


class NotFoundError(ClientError):
    """404: the object is not there."""


class ConflictError(ClientError):
    """409: another client was quicker, or the object exists already."""


class GoneError(ClientError):
    """410: the resource version is too old; list again."""


class UnprocessableError(ClientError):
    """422: the object failed validation."""


class TooManyRequestsError(ClientError):
    """429: slow down; `retry_after_s` says for how long, when the server said so."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        reason: str = "",
        method: str = "",
        path: str = "",
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(status, message, reason=reason, method=method, path=path)
        self.retry_after_s = retry_after_s


class EvictionRefusedError(ClientError):
    """429 to an eviction: a disruption budget does not allow it now.  Waiting for pods may help, haste does not."""


class ServerError(ApiError):
    """5xx: the API server itself has trouble."""


class TransportError(BayplanError):
    """The network: no connection, a broken one, or a timeout."""


class ExtenderError(BayplanError):
    """An extender could not be reached, said no to the call, or gave an answer that makes no sense."""


class MetricsError(BayplanError):
    """Prometheus could not be reached, said no to the query, or gave an answer that makes no sense."""


class LeadershipLostError(BayplanError):
    """Another replica holds the lease now."""
