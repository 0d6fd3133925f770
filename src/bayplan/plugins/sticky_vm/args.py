"""What a profile may set under ``pluginConfig: StickyVM``, with the defaults and the checks."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from bayplan.framework import PluginArgs
from bayplan.framework.config.duration import Duration
from bayplan.objects.requirement import check_key
from bayplan.objects.third_party.kubevirt import STICKY_NODE

RELEASE = "Release"

MAX_NAME = 50
"""Of an annotation, after its prefix: what comes behind it for pods of StatefulSets must fit, too."""


class StickyVMArgs(PluginArgs):
    """What can be set."""

    mode: Literal["StickyVM", "StickyOwner"] = "StickyVM"
    """StickyOwner: pods of StatefulSets stick as well."""
    annotation_key: str = STICKY_NODE
    when_node_is_gone: Literal["Wait", "Release"] = "Wait"
    release_after: Duration = Field(3600.0, gt=0)
    """How long a node must be gone before what sticks to it is released."""

    @field_validator("annotation_key")
    @classmethod
    def _can_be_written(cls, key: str) -> str:
        """The API server wants of annotations what it wants of labels."""
        try:
            check_key(key)
            fits = len(key.rpartition("/")[2]) <= MAX_NAME
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(
                f'must be an annotation such as {STICKY_NODE}: a DNS name and "/", which may be left out, then at most '
                f'{MAX_NAME} letters, digits, "-", "_" or "."'
            )
        return key
