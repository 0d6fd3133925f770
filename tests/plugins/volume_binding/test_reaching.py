"""The first thing each node reaches, however many there are: the quick way says what asking one by one would."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from bayplan.objects.node import HOSTNAME_LABEL as HOST
from bayplan.objects.requirement import Requirement
from bayplan.objects.selector import NodeRequirement, NodeTerm
from bayplan.plugins.volume_binding.reaching import first_reached, reaches_any
from bayplan.testing import cluster, node

RACKS = ("r1", "r2", "r3")


def one_of(key: str, *values: str) -> NodeRequirement:
    return NodeRequirement((), (NodeTerm((Requirement(key, "In", values),)),))


def random_requirement(rng: Random) -> NodeRequirement | None:
    simple = one_of(*rng.choice([(HOST, f"n{rng.randrange(8)}"), ("rack", *rng.sample(RACKS, 2)), ("rack", "gone")]))
    if rng.random() < 0.6:
        return simple
    other = NodeTerm((Requirement("rack", "NotIn", (rng.choice(RACKS),)), Requirement("tier", "Exists")))
    terms = (*(simple.terms or ()), other)
    choices = (None, NodeRequirement((), (other,)), NodeRequirement((), terms), NodeRequirement((), ()))
    return rng.choice([*choices, NodeRequirement((), (NodeTerm((), (), True),))])


@pytest.mark.parametrize("seed", range(40))
def test_the_first_one_that_is_not_taken(seed: int) -> None:
    rng = Random(seed)
    made = [node(f"n{number}") for number in range(8)]
    made = [each.label(rack=rng.choice(RACKS)) if rng.random() < 0.7 else each for each in made]
    made = [each.label(tier="x") if rng.random() < 0.5 else each for each in made]
    nodes = cluster(made).nodes
    requirements = [random_requirement(rng) for _ in range(rng.randrange(12))]
    numbers = rng.sample(range(100), len(requirements))
    taken = [np.array([rng.choice([-1, *numbers]) for _ in made], np.int64) for _ in range(rng.randrange(3))]
    expected = []
    for row in range(len(made)):
        labels = nodes.object_at(row).labels
        free = (
            number
            for number, requirement in zip(numbers, requirements, strict=True)
            if (requirement is None or requirement.matches("", labels)) and all(number != gone[row] for gone in taken)
        )
        expected.append(next(free, -1))
    assert first_reached(nodes, requirements, numbers, taken).tolist() == expected
    if not taken:
        assert reaches_any(nodes, requirements).tolist() == [number >= 0 for number in expected]
