"""Reading the scheduler's configuration file.  Used by the commands that take ``--config``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import structlog

from bayplan.errors import ConfigError, InputError
from bayplan.framework.config.loading import load_config
from bayplan.framework.config.model import SchedulerConfig
from bayplan.objects.files.manifests import read
from bayplan.plugins.plugin_set import mistakes_of, registry

log = structlog.get_logger()

OWN_PROFILE = "bayplan"


def read_config(path: Path | None, plugins: Sequence[str] = ()) -> SchedulerConfig:
    """The configuration in a file; without one, a single profile called ``bayplan``."""
    if path is None:
        raw = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"schedulerName": OWN_PROFILE}],
            "leaderElection": {"resourceName": "bayplan-scheduler"},
        }
        return load_config(raw, "built-in configuration")[0]
    known = registry(plugins)
    try:
        documents = read([str(path)])
    except InputError as error:
        raise ConfigError(str(error)) from error
    if len(documents) != 1:
        raise ConfigError(f"{path}: expected one KubeSchedulerConfiguration, found {len(documents)} documents")
    config, warnings = load_config(documents[0].raw, str(path), mistakes_of(known))
    for warning in warnings:
        log.warning("configuration", text=warning)
    return config
