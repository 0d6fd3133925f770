"""What is imagined is seen by the search, and by nobody else."""

from __future__ import annotations

import itertools
from typing import Any

from bayplan.plugins.dynamic_resources import imagining
from bayplan.plugins.dynamic_resources.device_columns import FREE, Use
from bayplan.plugins.dynamic_resources.imagining import Imagined
from tests.plugins.dynamic_resources.device_building import Bench, claim, device, node_of, request, slice_of


def real(bench: Bench, wanted: Any) -> Imagined:
    """Without asking the allocator, which has no limit here."""
    bench.inventory.catch_up()
    bench.usage.catch_up()
    shape = bench.allocator.shape([wanted.spec.devices]).shape
    return Imagined(shape, bench.inventory.devices_of(node_of("n1")), bench.inventory.columns)


def test_the_real_state_stays_as_it_is() -> None:
    counters = slice_of(
        None, pool="n1", name="a", count=2, allNodes=True,
        sharedCounters=[{"name": "gpu", "counters": {"slots": {"value": "1"}}}],
    )  # fmt: skip
    taken = [{"counterSet": "gpu", "counters": {"slots": {"value": "1"}}}]
    devices = [device(name, consumesCounters=taken) for name in "ab"]
    bench = Bench(counters, slice_of("n1", devices, name="b", count=2))
    bench.allocate(claim("other", request()))
    now = real(bench, claim("c", request()))
    uses, rows, total = list(now.columns.uses), now.devices.rows.tolist(), dict(now.devices.usable[0].book.total)
    assert not now.fits()
    assert now.with_use([0], FREE).fits()
    assert not now.with_use([1], Use(is_held=True)).fits()
    assert now.with_counters(0, {("gpu", "slots"): 10**9}).fits()
    assert not now.with_more(0, 1).fits()
    assert not now.fits()
    assert (now.columns.uses, now.devices.rows.tolist()) == (uses, rows)
    assert now.devices.usable[0].book.total == total


def test_a_search_that_takes_too_long_has_found_nothing() -> None:
    devices = [device(f"d{number:02}", {"numa": number}) for number in range(14)]
    match = [{"distinctAttribute": "gpu.example.com/numa"}, {"matchAttribute": "gpu.example.com/none"}]
    requests = [request(f"r{number}", count=2) for number in range(3)]
    wanted = claim("c", *requests, request("last"),
                   constraints=[match[0], match[1] | {"requests": ["last"]}])  # fmt: skip
    now = real(Bench(slice_of("n1", devices)), wanted)
    heard = itertools.count()
    assert not now.fits(lambda *_: next(heard))
    # Some fourteen devices are looked at in a step, and the whole search would have to look at millions.
    assert imagining.MOST_STEPS < next(heard) < 14 * imagining.MOST_STEPS
