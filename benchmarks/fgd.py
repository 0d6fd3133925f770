"""
The table of "Beware of Fragmentation" (USENIX ATC 2023): six policies for pods that share GPUs, on a trace of its form.

    python -m benchmarks.fgd --nodes openb_node_list_gpu_node.csv --pods openb_pod_list_default.csv --seeds 42:52

A sweep of ``examples/gpu-sharing``: pods in random order, copied (or left out) at random until they ask for 130% of all
GPUs, each tried once by the ordinary engine.  Shown is how much of all GPUs is allocated, in percent, when pods that
ask for 100% have come: mean and standard deviation over the seeds.  The traces are not shipped; they are in the
repository hkust-adsl/kubernetes-scheduler-simulator under data/csv.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

EXAMPLE = Path(__file__).parents[1] / "examples" / "gpu-sharing"
sys.path.insert(0, str(EXAMPLE / "src"))

from bayplan_gpu_sharing.typical_pods import as_args, typical_pods  # noqa: E402

from bayplan.app.sweep.running import Done, Means, run_payload  # noqa: E402
from bayplan.app.sweep.workers import quiet_logs  # noqa: E402
from bayplan.cli.progress import progress  # noqa: E402
from bayplan.errors import BayplanError  # noqa: E402
from bayplan.objects.pod import Pod  # noqa: E402
from bayplan.simulator import loading  # noqa: E402
from bayplan.simulator.sweep import plotting, sweep_file  # noqa: E402
from bayplan.simulator.sweep.payload import gather  # noqa: E402
from bayplan.text_layout import table  # noqa: E402

POLICIES = {
    "Random": "random_node",
    "DotProd": "dot_prod",
    "GpuClustering": "gpu_clustering",
    "GpuPacking": "gpu_packing",
    "BestFit": "best_fit",
    "FGD": "fgd",
}
MEASURE = "gpuAt100"


def sweep_in(folder: Path, nodes: Path, pods: Path, seeds: str) -> Path:
    """The example's sweep with other CSV files, and with the typical pods of these."""
    trace = yaml.safe_load((EXAMPLE / "trace.yaml").read_text())
    trace["spec"]["nodes"]["file"], trace["spec"]["pods"]["file"] = str(nodes.resolve()), str(pods.resolve())
    _leave_out(trace["spec"]["pods"], pods)
    (folder / "trace.yaml").write_text(yaml.safe_dump(trace))
    given = loading.read([folder / "trace.yaml"])
    typical = as_args(typical_pods(each for each in given.objects if isinstance(each, Pod)))
    (folder / "configs").mkdir()
    for policy in POLICIES:
        config = yaml.safe_load((EXAMPLE / "configs" / f"{policy}.yaml").read_text())
        if policy == "FGD":
            config["profiles"][0]["pluginConfig"] = [{"name": policy, "args": {"typical": typical}}]
        (folder / "configs" / f"{policy}.yaml").write_text(yaml.safe_dump(config))
    sweep = yaml.safe_load((EXAMPLE / "sweep.yaml").read_text())
    sweep["spec"]["grid"]["seed"] = seeds
    sweep["spec"]["plugins"] = [f"bayplan_gpu_sharing.{module}:{name}" for name, module in POLICIES.items()]
    (folder / "sweep.yaml").write_text(yaml.safe_dump(sweep))
    return folder / "sweep.yaml"


def _leave_out(part: dict[str, Any], path: Path) -> None:
    """Some traces have no models, or no shares: what a column would say, its absence does not."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            there = [name.strip() for name in file.readline().split(",")]
    except OSError:
        return  # told by whoever reads it
    part["annotations"] = {key: column for key, column in part["annotations"].items() if column in there}
    if part["columns"]["gpuMilli"] not in there:
        del part["columns"]["gpuMilli"]


def measure(arguments: argparse.Namespace) -> Done:
    with TemporaryDirectory() as made:
        path = sweep_in(Path(made), arguments.nodes, arguments.pods, arguments.seeds)
        payload = gather(sweep_file.read(path).spec, path)
        out = arguments.out or Path(made) / "rows.csv"
        with progress("scenarios", look_every=1, lines=False) as tell:
            return run_payload(payload, out, Means(arguments.workers), tell=tell)


def results(done: Done) -> dict[str, dict[str, float]]:
    """Mean and deviation of each policy."""
    from bayplan.simulator.sweep.summary import summary

    summed = {each["config"]: each["values"].get(MEASURE) for each in summary(done.rows, done.file.axes, [MEASURE])}
    return {policy: {name: spread[name] for name in ("mean", "sd")} for policy, spread in summed.items() if spread}


def shown(found: dict[str, dict[str, float]]) -> str:
    rows = [[policy, f"{each['mean']:.2f}", f"{each['sd']:.2f}"] for policy, each in found.items()]
    return table(["POLICY", "GPU % AT 100%", "SD"], rows)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fgd", description=__doc__.split("\n\n")[0])
    parser.add_argument("--nodes", type=Path, required=True, metavar="CSV")
    parser.add_argument("--pods", type=Path, required=True, metavar="CSV")
    parser.add_argument("--seeds", default="42:52", metavar="FIRST:END")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument(
        "--out", type=Path, metavar="FILE.csv", help="keep the rows; those that are there are not run again"
    )
    parser.add_argument("--plot", type=Path, metavar="FILE.svg")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")
    arguments = parser.parse_args()
    quiet_logs()
    try:
        started = time.monotonic()
        done = measure(arguments)
        spent = time.monotonic() - started
        found = results(done)
        if arguments.plot:
            with_range: Any = {name: {**each, "min": 0.0, "max": 0.0} for name, each in found.items()}
            plotting.bars(arguments.plot, arguments.pods.stem, "GPUs allocated at 100% arrival, %", with_range)
    except BayplanError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(found, indent=2) if arguments.output == "json" else shown(found))
    if len(done.rows) > done.reused:
        each = spent / (len(done.rows) - done.reused)
        print(f"{len(done.rows)} runs, {spent:.0f} s in all, {each:.1f} s each", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
