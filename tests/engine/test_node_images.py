from __future__ import annotations

from bayplan.engine.node_images import NodeImages
from bayplan.testing import node

ONE = node("one").image(["app:1", "app:latest"], 1000).build()
TWO = node("two").image(["app:1"], 2000).build()
ROWS = {"one": 1, "two": 0}


def test_the_nodes_of_an_image_with_the_size_that_was_reported_first() -> None:
    images = NodeImages()
    images.add(ONE)
    images.add(TWO)
    state = images.state("app:1", 1, ROWS)
    assert state is not None
    assert (state.size_bytes, state.num_nodes, state.rows.tolist()) == (1000, 2, [0, 1])
    assert images.state("app:1", 1, ROWS) is state
    assert images.state("db:1", 1, ROWS) is None


def test_an_image_goes_with_its_last_node() -> None:
    images = NodeImages()
    images.add(ONE)
    images.forget(TWO)
    images.forget(ONE)
    assert images.state("app:1", 2, ROWS) is None


def test_a_copy_goes_its_own_way() -> None:
    images = NodeImages()
    images.add(ONE)
    copy = images.copy()
    copy.forget(ONE)
    assert copy.state("app:1", 1, ROWS) is None
    assert images.state("app:1", 1, ROWS) is not None
