"""Plugins that are wrong, as the people who write them meet it: one line that names the plugin, and no traceback."""

from __future__ import annotations

import pytest

from tests.cli.support import NODE, POD, Ended, Shell

HEAD = """
import sys
from bayplan.framework import *

class Fine(FilterPlugin):
    def filter_node(self, state, pod, node):
        return None
"""

IN_FILTER = 'running "P" filter plugin: plugin P failed in Filter for pod default/web: '
FAILED = "plugin P failed in {} for pod default/web: "
REQUEUE = 'return a tuple of On, such as (On("Node", Change.ADDED),)'


def plugin(base: str, *lines: str) -> str:
    body = "\n".join(f"    {line}" for line in ('name = "P"', *lines))
    return f"{HEAD}\nclass P({base}):\n{body}\n"


def run(shell: Shell, text: str, *command: str) -> Ended:
    shell.write("cluster.yaml", f"{NODE}---\n{NODE.replace('n1', 'n2')}---\n{POD}")
    shell.write("broken.py", text)
    return shell.run(*command, "-f", "cluster.yaml", "--plugin", "broken.py:P")


@pytest.mark.parametrize("command", [("simulate",), ("explain", "pod", "web")], ids=["simulate", "explain"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (plugin("FilterPlugin", "def filter_node(self, *a): sys.exit(7)"), f"{IN_FILTER}SystemExit: 7"),
        (plugin("FilterPlugin", "def filter_node(self, *a): raise BaseException"), f"{IN_FILTER}BaseException"),
        (plugin("FilterPlugin", "def filter_node(self, *a): raise GeneratorExit"), f"{IN_FILTER}GeneratorExit"),
        (plugin("PreEnqueuePlugin", "def pre_enqueue(self, pod): raise KeyError('x')"), FAILED.format("PreEnqueue")),
        (
            plugin("ScorePlugin", "def score_node(self, *a): return '100'"),
            f"{FAILED.format('Score')}ValueError: the score of node n1 is '100'; return a whole number, 0 to 100",
        ),
    ],
)
def test_what_a_plugin_does_wrong_is_told_of_its_pod(
    shell: Shell, command: tuple[str, ...], text: str, said: str
) -> None:
    ended = run(shell, text, *command)
    assert said in ended.out
    assert "Traceback" not in ended.err
    assert "exc_info" not in ended.err


@pytest.mark.parametrize("command", [("simulate",), ("explain", "pod", "web")], ids=["simulate", "explain"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise SystemExit(3)", "broken.py failed: SystemExit: 3"),
        ("raise GeneratorExit", "broken.py failed: GeneratorExit"),
        (plugin("Fine", "def __init__(self, *a): raise GeneratorExit"), "plugin P could not be made: GeneratorExit"),
        (plugin("Fine", "def __init__(self, *a): sys.exit(3)"), "plugin P could not be made: SystemExit: 3"),
        (plugin("Fine", "def requeue_on(self): raise KeyError('x')"), f"requeue_on raised KeyError: 'x'; {REQUEUE}"),
        (plugin("Fine", "def requeue_on(self): return 5"), f"plugin P: requeue_on returned 5; {REQUEUE}"),
        (plugin("Fine", 'reads = "Node"'), "class P: reads is 'Node'; write a tuple of kinds: reads = (\"Node\",)"),
        (plugin("Fine", 'reads = ("Nonsuch",)'), 'class P: reads names the kind "Nonsuch", which is not known'),
        (
            plugin("ScorePlugin", 'default_weight = "x"', "def score_node(self, *a): return 1"),
            "class P: default_weight is 'x'; write a whole number of 1 or more",
        ),
        (
            plugin("FilterPlugin", "async def filter_node(self, *a): return None"),
            "class P: filter_node is async; write def filter_node: ",
        ),
    ],
)
def test_a_plugin_that_cannot_work_is_refused_in_one_line(
    shell: Shell, command: tuple[str, ...], text: str, said: str
) -> None:
    ended = run(shell, text, *command)
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1
    assert ended.err.startswith("error: ")
    assert said in ended.err


def test_a_plugin_that_cannot_tell_is_named_and_the_rest_is_explained(shell: Shell) -> None:
    ended = run(shell, plugin("Fine", "def tell(self, *a): raise ValueError('tell')"), "explain", "pod", "web")
    assert ended.code == 0
    assert "default/web: Schedulable" in ended.out
    (line,) = ended.err.splitlines()
    assert 'event="tell failed, its numbers are left out" plugin=P' in line
    assert line.endswith('error="ValueError: tell"')


@pytest.mark.parametrize("verbose", [False, True])
def test_what_a_plugin_does_beside_scheduling_is_told_when_it_fails(shell: Shell, verbose: bool) -> None:
    text = plugin("Fine", "async def background(self): raise ValueError('beside')")
    ended = run(shell, text, "simulate", *(("-v",) if verbose else ()))
    assert ended.code == 0
    first, *more = ended.err.splitlines()
    assert first.startswith('level=error event="background failed, scheduling goes on without it" plugin=P')
    assert first.endswith('error="ValueError: beside"')
    assert ("Traceback" in "".join(more)) is verbose


def test_a_hold_of_less_than_no_time_is_no_answer(shell: Shell) -> None:
    ended = run(shell, plugin("PermitPlugin", "def permit(self, *a): return Wait(-5)"), "simulate")
    assert ended.code == 2
    assert f"{FAILED.format('Permit')}ValueError: timeout_s is 0 or more seconds, got -5" in ended.out


KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {token: t}}]
current-context: c
"""


def test_the_live_scheduler_refuses_it_in_one_line_too(shell: Shell) -> None:
    shell.write("kubeconfig", KUBECONFIG)
    shell.write("broken.py", plugin("Fine", "def requeue_on(self): return 5"))
    ended = shell.run(
        "scheduler",
        "--kubeconfig",
        "kubeconfig",
        "--secure-port",
        "0",
        "--plugin",
        "broken.py:P",
        "--leader-elect=false",
    )
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"error: plugin P: requeue_on returned 5; {REQUEUE}\n"
