"""
Fields of configuration versions before v1, brought into v1's shape, each with a warning.

``config.load_config`` calls ``converted`` before it reads the document, so this works on plain mappings and
leaves anything malformed for the reader to complain about.  Plugins that have gone or changed are left to
``legacy_plugins``, afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from bayplan.framework.config.mistakes import Mistake, field_path, shown

VERSIONS = ("v1beta3", "v1beta2", "v1beta1", "v1alpha2", "v1alpha1")
"""Versions that can be read, newest first."""

Body: TypeAlias = dict[str, Any]
Warn: TypeAlias = Callable[[str, str], None]

_DROPPED = {
    "healthzBindAddress": "health is served on the secure port; use --secure-port",
    "metricsBindAddress": "metrics are served on the secure port; use --secure-port",
    "algorithmSource": "no policy or provider is read; name plugins in profiles[].plugins instead",
    "featureGates": "there are no feature gates in the file",
    "failureDomains": "topology keys are named in the pods' own constraints",
}
_POINTS = {"scoring": "score", "unreserve": "reserve"}
_NORMALIZING = ("normalizeScore", "normalizeScoring", "normalizescoring")


def converted(body: Body, version: str) -> tuple[Body, list[Mistake]]:
    """The document in v1's shape, and what to tell the user."""
    warnings = [
        Mistake(
            "apiVersion",
            f"{version} is read as v1, with v1's default plugins and weights; "
            "kube-scheduler no longer takes it, write kubescheduler.config.k8s.io/v1",
        )
    ]

    def warn(path: str, text: str) -> None:
        warnings.append(Mistake(path, text))

    _into_profile(body, warn)
    _leader_election(body, warn)
    for field, instead in _DROPPED.items():
        if body.pop(field, None) is not None:
            warn(field, f"is ignored: {instead}")
    for index, profile in enumerate(_profiles(body)):
        _rename_points(profile, field_path("profiles", index, "plugins"), version, warn)
    _settings_into_args(body, warn)
    _preemption(body, warn)
    return body, warnings


def _profiles(body: Body) -> list[Body]:
    profiles = body.get("profiles")
    return [profile for profile in profiles if isinstance(profile, dict)] if isinstance(profiles, list) else []


def _into_profile(body: Body, warn: Warn) -> None:
    """v1alpha1 knew one scheduler, described at the top."""
    fields = [field for field in ("schedulerName", "plugins", "pluginConfig") if field in body]
    if not fields or "profiles" in body:
        return
    body["profiles"] = [{field: body.pop(field) for field in fields}]
    for field in fields:
        warn(field, f"is read as profiles[0].{field}")


def _leader_election(body: Body, warn: Warn) -> None:
    election = body.get("leaderElection")
    if not isinstance(election, dict):
        return
    for old, new in (("lockObjectNamespace", "resourceNamespace"), ("lockObjectName", "resourceName")):
        if old in election:
            election.setdefault(new, election.pop(old))
            warn(f"leaderElection.{old}", f"is read as {new}")
    lock = election.get("resourceLock")
    if lock in ("endpoints", "configmaps", "endpointsleases", "configmapsleases"):
        election["resourceLock"] = "leases"
        warn("leaderElection.resourceLock", f'{shown(lock)} is read as "leases", the only lock there is now')


def _rename_points(profile: Body, path: str, version: str, warn: Warn) -> None:
    plugins = profile.get("plugins")
    if not isinstance(plugins, dict):
        return
    renamed = dict(_POINTS)
    if version == "v1alpha1":
        renamed["postFilter"] = "preScore"  # the name meant "after filtering" until preemption took it
    for old, new in renamed.items():
        if old in plugins:
            _merge_set(plugins, new, plugins.pop(old))
            warn(f"{path}.{old}", f"is read as {new}")
    for old in _NORMALIZING:
        if plugins.pop(old, None) is not None:
            warn(f"{path}.{old}", "is ignored: plugins at score normalize their own scores")


def _merge_set(plugins: Body, point: str, more: Any) -> None:
    there = plugins.setdefault(point, {})
    if not isinstance(there, dict) or not isinstance(more, dict):
        plugins[point] = more
        return
    for field, refs in more.items():
        known = there.setdefault(field, [])
        if isinstance(known, list) and isinstance(refs, list):
            known += [ref for ref in refs if ref not in known]
        else:
            there[field] = refs


def _settings_into_args(body: Body, warn: Warn) -> None:
    """Settings that stood at the top before plugins had args."""
    for field, plugin, arg in (
        ("hardPodAffinitySymmetricWeight", "InterPodAffinity", "hardPodAffinityWeight"),
        ("bindTimeoutSeconds", "VolumeBinding", "bindTimeoutSeconds"),
        ("topologySpreadConstraints", "PodTopologySpread", "defaultConstraints"),
    ):
        if field not in body:
            continue
        value = body.pop(field)
        warn(field, f"is read as the arg {arg} of {plugin}")
        body.setdefault("profiles", [{}])
        for profile in _profiles(body):
            _set_arg(profile, plugin, arg, value)
            if arg == "defaultConstraints":
                _set_arg(profile, plugin, "defaultingType", "List")


def _set_arg(profile: Body, plugin: str, arg: str, value: Any) -> None:
    configs = profile.setdefault("pluginConfig", [])
    if not isinstance(configs, list):
        return
    named = (config for config in configs if isinstance(config, dict) and config.get("name") == plugin)
    config = next(named, None)
    if config is None:
        config = {"name": plugin}
        configs.append(config)
    args = config.get("args") or {}
    if isinstance(args, dict):
        args.setdefault(arg, value)
        config["args"] = args


def _preemption(body: Body, warn: Warn) -> None:
    if "disablePreemption" not in body:
        return
    is_off = body.pop("disablePreemption")
    if is_off is not True:
        warn("disablePreemption", "is ignored: preemption is on unless DefaultPreemption is disabled")
        return
    warn("disablePreemption", "is read as DefaultPreemption under profiles[].plugins.postFilter.disabled")
    body.setdefault("profiles", [{}])
    for profile in _profiles(body):
        plugins = profile.setdefault("plugins", {})
        if isinstance(plugins, dict):
            _merge_set(plugins, "postFilter", {"disabled": [{"name": "DefaultPreemption"}]})
