"""
ImageLocality: prefer nodes that already hold the pod's images, the more so the larger they are.

An image counts with its size times the share of nodes that hold it, so that an image on a single node does
not draw every pod there.  Below 23 MiB in all a node gets 0, above 1000 MiB per container 100.

Extension points: Score.  Requeue: nothing, it never rejects a pod.
"""

from __future__ import annotations

import numpy as np

from bayplan.framework import (
    MAX_SCORE,
    CycleState,
    Depends,
    NodeTable,
    NodeView,
    On,
    PodTemplate,
    Promise,
    ScorePlugin,
    Scores,
)
from bayplan.framework.snapshot import ImageState
from bayplan.objects.pod import Pod

MIB = 1024 * 1024
LEAST_BYTES = 23 * MIB
MOST_BYTES_PER_CONTAINER = 1000 * MIB


class ImageLocality(ScorePlugin):
    """Prefer nodes that already hold the pod's images, the more so the larger they are."""

    name = "ImageLocality"

    def requeue_on(self) -> tuple[On, ...]:
        return ()

    def promise(self, template: PodTemplate) -> Promise | None:
        return Promise(key=(template.images, template.volume_images), score=Depends.NODES)

    def score_node(self, state: CycleState, pod: Pod, node: NodeView) -> int:
        held = {name for image in node.object.images for name in image.names or ()}
        total = 0
        for name in (*pod.images, *pod.volume_images):
            image = node.table.image(name) if name in held else None
            if image is not None:
                total += _worth(image, node.table.total_nodes)
        least, most = LEAST_BYTES, _most(pod)
        return MAX_SCORE * (min(max(total, least), most) - least) // (most - least)

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Scores:
        totals = np.zeros(len(nodes), np.int64)
        known = [image for image in map(nodes.image, (*pod.images, *pod.volume_images)) if image is not None]
        if not known:
            return totals
        for image in known:
            totals[image.rows] += _worth(image, nodes.total_nodes)
        least, most = LEAST_BYTES, _most(pod)
        scores: Scores = MAX_SCORE * (np.clip(totals, least, most) - least) // (most - least)
        return scores


def _worth(image: ImageState, total_nodes: int) -> int:
    return int(image.size_bytes * (image.num_nodes / total_nodes))


def _most(pod: Pod) -> int:
    return MOST_BYTES_PER_CONTAINER * max(pod.container_count, 1)
