"""
What ``bayplan annotator`` costs on a large cluster: queries, writes and CPU a minute, and how old its values get.

A real API server holds the nodes, a real Prometheus with the shipped rules scrapes an exporter that plays them all, and
the annotator runs as a process with its default policy (six metrics) and its default rate of 50 writes a second.

    python -m benchmarks.bench_annotator --nodes 5000 --minutes 4 [-o json]
"""

from __future__ import annotations

import argparse
import json
import re
import ssl
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import yaml

from bayplan.objects.third_party import crane_annotations
from bayplan.objects.third_party.crane import published_policy
from benchmarks.spending import cpu_s, make_all, resident_bytes, say
from tests.support.control_plane import ControlPlane
from tests.support.live import node_manifest
from tests.support.processes import ProcessGroup, free_ports
from tests.support.prometheus import MISSING, RULES, PrometheusServer, SyntheticNodes, find_programs

LOADS = 7
POLL_S = 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description="The annotator on a large cluster.")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--minutes", type=float, default=4.0, help="how long to measure after the first round")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")
    given = parser.parse_args()
    result = measure(given.nodes, given.minutes)
    if given.output == "json":
        print(json.dumps(result, indent=2))
        return
    for name, value in result.items():
        if name != "metrics":
            words = re.sub("([A-Z])", r" \1", name).lower()
            print(f"{words:<28}{value}")
    print(f"{'METRIC':<24}{'PERIOD S':>10}{'OLDEST S':>10}{'TRUSTED S':>11}{'STALE':>7}")
    for each in result["metrics"]:
        print(f"{each['metric']:<24}{each['period']:>10}{each['oldest']:>10}{each['trusted']:>11}{each['stale']:>7}")


def measure(count: int, minutes: float) -> dict[str, Any]:
    programs = find_programs()
    if programs is None:
        sys.exit(MISSING)
    with ControlPlane() as plane, tempfile.TemporaryDirectory() as folder:
        say(f"making {count} nodes")
        api = plane.api()
        make_all(count, lambda number: api.create(_node(number)))
        nodes = SyntheticNodes([f"{_address(number)}:9100" for number in range(count)])
        for number in range(count):
            nodes.load(f"{_address(number)}:9100", cpu=number % LOADS / 10, memory=number % LOADS / 10)
        with (
            nodes,
            PrometheusServer(programs, Path(folder), [nodes.address], rules=_rules(), scrape="15s") as prometheus,
        ):
            for metric in published_policy().metrics:
                prometheus.wait_for(metric, count, timeout_s=180)
            return _watch(plane, prometheus.address, Path(folder), count, minutes)


def _watch(plane: ControlPlane, prometheus: str, folder: Path, count: int, minutes: float) -> dict[str, Any]:
    (port,) = free_ports(1)
    processes = ProcessGroup()
    command = [sys.executable, "-m", "bayplan", "annotator", f"--prometheus-address={prometheus}", "--open-metrics"]
    command += [f"--kubeconfig={plane.kubeconfig()}", f"--health-port={port}"]
    try:
        started = time.monotonic()
        server = processes.start(command, folder / "annotator.log")
        while _numbers(port).get("patches", 0) < count:
            server.check()
            time.sleep(POLL_S)
        first_round = time.monotonic() - started
        say(f"first round took {first_round:.0f} s; measuring for {minutes:g} minutes")
        before, cpu, began = _numbers(port), cpu_s(server.pid), time.monotonic()
        oldest: dict[str, float] = {}
        while time.monotonic() - began < 60 * minutes:
            time.sleep(30)
            _note_ages(plane, oldest)
        took = (time.monotonic() - began) / 60
        after = _numbers(port)
        return {
            "nodes": count,
            "firstRoundSeconds": round(first_round),
            "queriesPerMinute": round((after["queries"] - before["queries"]) / took, 1),
            "patchesPerMinute": round((after["patches"] - before["patches"]) / took),
            "patchesPerSecond": round((after["patches"] - before["patches"]) / took / 60, 1),
            "failedPatches": after["failed"],
            "cpuSecondsPerMinute": round((cpu_s(server.pid) - cpu) / took, 2),
            "residentMegabytes": round(resident_bytes(server.pid) / 2**20),
            "metrics": [
                {
                    "metric": rule.name,
                    "period": round(rule.period_s),
                    "oldest": round(oldest[rule.name]),
                    "trusted": round(rule.period_s + crane_annotations.GRACE_S),
                    "stale": after[f"stale {rule.name}"],
                }
                for rule in published_policy().sync_policy
            ],
        }
    finally:
        processes.close()


def _note_ages(plane: ControlPlane, oldest: dict[str, float]) -> None:
    """The age of the oldest value that any node shows, by metric."""
    now = time.time()
    for node in plane.api().list("Node"):
        shown = node["metadata"].get("annotations") or {}
        for metric in published_policy().metrics:
            reading = crane_annotations.read(shown.get(metric))
            age = now - reading.at if reading else float("inf")
            oldest[metric] = max(oldest.get(metric, 0.0), age)


def _numbers(port: int) -> dict[str, float]:
    """Counters from the metrics page; nothing while the process is not there yet."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        with opener.open(f"https://127.0.0.1:{port}/metrics", timeout=10) as answer:
            page = answer.read().decode()
    except OSError:
        return {}
    found = {"queries": 0.0, "patches": 0.0, "failed": 0.0}
    for name, labels, value in re.findall(r"^bayplan_annotator_(\w+)\{(.*)\} (\S+)$", page, re.MULTILINE):
        if name == "queries_total":
            found["queries"] += float(value)
        elif name == "patches_total":
            found["patches" if "success" in labels else "failed"] += float(value)
        elif name == "stale_nodes":
            found[f"stale {labels.split(chr(34))[1]}"] = float(value)
    return found


def _rules() -> dict[str, Any]:
    """The shipped ones, worked out often enough that the start takes no five minutes."""
    rules: dict[str, Any] = yaml.safe_load(RULES.read_text())
    for group in rules["groups"]:
        group["interval"] = "15s"
    return rules


def _node(number: int) -> dict[str, Any]:
    node = node_manifest(f"node-{number:05}")
    node["status"]["addresses"] = [{"type": "InternalIP", "address": _address(number)}]
    return node


def _address(number: int) -> str:
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


if __name__ == "__main__":
    main()
