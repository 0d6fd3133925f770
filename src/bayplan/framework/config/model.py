"""
KubeSchedulerConfiguration (``kubescheduler.config.k8s.io/v1``) as frozen models, with its defaults.

``config.load_config`` fills them from a file; the simulator and tests make them directly, by Python names.
A duration is text in the file and seconds here, in a field that ends in ``_s``.
"""

from __future__ import annotations

import base64
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PrivateAttr,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from bayplan.framework.config.duration import Duration

DEFAULT_SCHEDULER_NAME = "default-scheduler"
EVERY_PLUGIN = "*"
"""Under ``disabled``: all plugins that are there by default."""

_DEFAULT_EXTENDER_TIMEOUT_S = 5.0
_ZEROS = ("", 0, "0", "0s")


def in_file(name: str) -> str:
    """A field's name as it stands in the file: ``lease_duration_s`` is ``leaseDuration``."""
    return "enableHTTPS" if name == "enable_https" else to_camel(name.removesuffix("_s"))


class Settings(BaseModel):
    """What all parts of the configuration have in common."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=in_file,
        validate_by_name=True,
        validate_by_alias=True,
    )


class _ZeroMeansUnset(Settings):
    """Settings in which an empty text or a zero leaves the default alone, as kube-scheduler has it."""

    @model_validator(mode="before")
    @classmethod
    def _drop_zeros(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        return {key: value for key, value in values.items() if isinstance(value, bool) or value not in _ZEROS}


class LeaderElection(_ZeroMeansUnset):
    """Which of several replicas schedules."""

    leader_elect: bool = True
    lease_duration_s: Duration = 15.0
    renew_deadline_s: Duration = 10.0
    retry_period_s: Duration = 2.0
    resource_lock: str = "leases"
    resource_name: str = "kube-scheduler"
    resource_namespace: str = "kube-system"


class ClientConnection(_ZeroMeansUnset):
    """How to talk to the API server."""

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = "application/vnd.kubernetes.protobuf"
    qps: float = 50.0
    burst: int = 100


class PluginRef(Settings):
    """A plugin named in a list; the weight counts for scores only, and none or 0 means 1."""

    name: str
    weight: int | None = None


class PluginSet(Settings):
    """What is enabled and disabled at one extension point."""

    enabled: tuple[PluginRef, ...] = ()
    disabled: tuple[PluginRef, ...] = ()

    @property
    def disabled_names(self) -> frozenset[str]:
        return frozenset(ref.name for ref in self.disabled)


class Plugins(Settings):
    """The plugin sets of a profile: one for each extension point, and ``multi_point`` for all of them."""

    pre_enqueue: PluginSet = PluginSet()
    queue_sort: PluginSet = PluginSet()
    pre_filter: PluginSet = PluginSet()
    filter: PluginSet = PluginSet()
    post_filter: PluginSet = PluginSet()
    pre_score: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    reserve: PluginSet = PluginSet()
    permit: PluginSet = PluginSet()
    pre_bind: PluginSet = PluginSet()
    bind: PluginSet = PluginSet()
    post_bind: PluginSet = PluginSet()
    multi_point: PluginSet = PluginSet()
    placement_generate: PluginSet = PluginSet()
    placement_score: PluginSet = PluginSet()

    def at(self, point: str) -> PluginSet:
        """The set of one extension point, by its Python name."""
        found: PluginSet = getattr(self, point)
        return found

    def sets(self) -> dict[str, PluginSet]:
        """All sets, by Python name, in the order they are declared."""
        return {point: self.at(point) for point in type(self).model_fields}


class PluginConfig(Settings):
    """The arguments of one plugin, as they stand in the file; ``args.read_args`` makes sense of them."""

    name: str
    args: Any = None


class ProfileConfig(Settings):
    """One scheduler name and the plugins behind it."""

    scheduler_name: str = ""
    percentage_of_nodes_to_score: int | None = None
    plugins: Plugins = Plugins()
    plugin_config: tuple[PluginConfig, ...] = ()


class ManagedResource(Settings):
    """An extended resource an extender looks after."""

    name: str
    ignored_by_scheduler: bool = False


def _decoded(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return base64.b64decode(value, validate=True)
    except ValueError:
        raise ValueError("must be base64 text") from None  # without the value: it may be a key


def _encoded(value: bytes) -> str:
    return base64.b64encode(value).decode()


Pem = Annotated[bytes, BeforeValidator(_decoded), PlainSerializer(_encoded, return_type=str, when_used="json")]
"""Base64 in the file, the PEM itself in the program."""


class ExtenderTls(Settings):
    """How an extender is reached over TLS; data wins over the file of the same name."""

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: Pem = b""
    key_data: Pem = Field(b"", repr=False)
    ca_data: Pem = b""


def _default_timeout(seconds: float) -> float:
    return seconds or _DEFAULT_EXTENDER_TIMEOUT_S


class Extender(Settings):
    """A webhook that filters, scores, preempts or binds."""

    url_prefix: str
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: int = 0
    bind_verb: str = ""
    enable_https: bool = False
    tls_config: ExtenderTls | None = None
    http_timeout_s: Annotated[Duration, AfterValidator(_default_timeout)] = _DEFAULT_EXTENDER_TIMEOUT_S
    node_cache_capable: bool = False
    managed_resources: tuple[ManagedResource, ...] = ()
    ignorable: bool = False


INITIAL_BACKOFF_S, MAX_BACKOFF_S = 1, 10
"""How long a pod waits after its first failed attempt, and after many, unless the configuration says otherwise."""


class SchedulerConfig(Settings):
    """The whole configuration.  Without a file, ``SchedulerConfig()`` is kube-scheduler's default."""

    parallelism: int = 16
    leader_election: LeaderElection = LeaderElection()
    client_connection: ClientConnection = ClientConnection()
    enable_profiling: bool = True
    enable_contention_profiling: bool | None = None
    """None: as ``enable_profiling``."""
    percentage_of_nodes_to_score: int | None = None
    """None: nothing was said.  0: kube-scheduler's share, which shrinks as the cluster grows."""
    pod_initial_backoff_seconds: int = INITIAL_BACKOFF_S
    pod_max_backoff_seconds: int = MAX_BACKOFF_S
    profiles: tuple[ProfileConfig, ...] = Field((), validate_default=True)
    extenders: tuple[Extender, ...] = ()
    delay_cache_until_active: bool = False

    _source: str = PrivateAttr("")

    @field_validator("profiles")
    @classmethod
    def _name_the_only_profile(cls, profiles: tuple[ProfileConfig, ...]) -> tuple[ProfileConfig, ...]:
        if not profiles:
            return (ProfileConfig(scheduler_name=DEFAULT_SCHEDULER_NAME),)
        if len(profiles) == 1 and "scheduler_name" not in profiles[0].model_fields_set:
            return (profiles[0].model_copy(update={"scheduler_name": DEFAULT_SCHEDULER_NAME}),)
        return profiles

    @property
    def source(self) -> str:
        """The file this was read from, for messages; empty if it was made by a program."""
        return self._source

    def read_from(self, source: str) -> SchedulerConfig:
        """The same configuration, remembering its file."""
        copy = self.model_copy()
        copy._source = source
        return copy
