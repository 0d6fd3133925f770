"""
Scenarios on the workers of a Dask scheduler, which may be on any number of machines.

The extra ``dask`` brings the library; the same version of Bayplan, and the plugins that configurations name, must be
installed where the workers are.  The payload is sent to each worker once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bayplan.app.sweep.workers import MAX_DEATHS, SweepError, quiet_logs
from bayplan.errors import BayplanError, InputError
from bayplan.simulator.sweep.payload import Payload
from bayplan.simulator.sweep.scenario_run import Result, run_scenario
from bayplan.simulator.sweep.scenarios import Scenario

CONNECT_S = 10
RETRIES = 3
"""How often a scenario is tried again elsewhere when its worker dies."""


class DaskWorkers:
    """What a Dask scheduler has."""

    def __init__(self, address: str, payload: Payload, resources: list[str]) -> None:
        self._address = address
        self._payload = payload
        self._resources = resources

    def results(self, scenarios: Sequence[Scenario]) -> Iterator[tuple[Scenario, Result]]:
        library = _library()
        client = self._connected(library)
        try:
            left = {each.number: each for each in scenarios}
            for _ in range(MAX_DEATHS):
                for scenario, result in self._until_lost(library, client, list(left.values())):
                    del left[scenario.number]
                    yield scenario, result
                if not left:
                    return
            raise SweepError(f"workers of {self._address} die again and again; {len(left)} scenarios are left")
        finally:
            client.close()

    def _until_lost(
        self, library: Any, client: Any, scenarios: Sequence[Scenario]
    ) -> Iterator[tuple[Scenario, Result]]:
        """Until each is done or was lost with its worker too often."""
        sent = client.scatter(self._payload, broadcast=True)
        futures = {
            client.submit(run_quietly, sent, each, self._resources, pure=False, retries=RETRIES): each
            for each in scenarios
        }
        for done in library.as_completed(futures):
            error = done.exception() if done.status == "error" else None
            if isinstance(error, BayplanError):
                raise error
            if done.status == "finished":
                yield futures[done], done.result()
            elif error is not None and not isinstance(error, library.KilledWorker):
                raise SweepError(f"scenario {futures[done].number} failed on {self._address}: {error!r}") from error

    def _connected(self, library: Any) -> Any:
        try:
            client = library.Client(self._address, timeout=CONNECT_S)
        except (OSError, ValueError, TypeError) as error:
            raise InputError(f"no Dask scheduler answers at {self._address}: {error}", field="--on",
                             fix="write an address such as tcp://scheduler:8786") from None  # fmt: skip
        if not client.scheduler_info()["workers"]:
            client.close()
            raise InputError(f"{self._address} has no workers", field="--on", fix=f"start dask worker {self._address}")
        return client


def run_quietly(payload: Payload, scenario: Scenario, resources: list[str]) -> Result:
    """What a Dask worker calls."""
    quiet_logs()
    return run_scenario(payload, scenario, resources)


def _library() -> Any:
    try:
        import distributed
    except ImportError:
        raise InputError("this needs Dask", field="--on", fix="pip install 'bayplan[dask]'") from None
    return distributed
