"""Kinds of custom resources on the real control plane, for as long as a block lasts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from tests.support.api import Api, ApiError, Object


@contextmanager
def defined(api: Api, documents: Sequence[Object], kinds: Sequence[str]) -> Iterator[None]:
    """The documents created and the kinds served, until the end of the block."""
    for document in documents:
        api.create(document)
    for kind in kinds:
        api.wait_for(partial(_is_served, api, kind), 20, f"{kind} to be served")
    try:
        yield
    finally:
        for document in reversed(documents):
            api.delete(document["kind"], document["metadata"]["name"])
        for kind in kinds:
            api.wait_for(partial(_is_gone, api, kind), 20, f"{kind} to be gone")


def _is_served(api: Api, kind: str) -> bool:
    try:
        api.list(kind)
    except ApiError as error:
        if error.code != 404:
            raise
        return False
    return True


def _is_gone(api: Api, kind: str) -> bool:
    return not _is_served(api, kind)
