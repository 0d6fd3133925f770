"""Plugins that are wrong, as the people who write them meet it: one line that names the plugin, and no traceback."""

from __future__ import annotations

import json

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
        (
            plugin("Fine", "def requeue_on(self): raise KeyError('x')"),
            f"requeue_on raised KeyError: 'x' (broken.py:11); {REQUEUE}",
        ),
        (plugin("Fine", "def requeue_on(self): return 5"), f"plugin P: requeue_on returned 5; {REQUEUE}"),
        (plugin("Fine", 'reads = "Node"'), "class P: reads is 'Node'; write a tuple of kinds: reads = (\"Node\",)"),
        (plugin("Fine", 'reads = ("Nonsuch",)'), 'class P: reads names the kind "Nonsuch", which is not known'),
        (
            plugin("ScorePlugin", 'default_weight = "x"', "def score_node(self, *a): return 1"),
            "class P: default_weight is 'x'; write a whole number of 1 or more",
        ),
        (
            plugin("ScorePlugin", "default_weight = 2**31", "def score_node(self, *a): return 1"),
            "class P: default_weight is 2147483648; write at most 2147483647",
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
    assert line.endswith('error="ValueError: tell (broken.py:11)"')


@pytest.mark.parametrize("verbose", [False, True])
def test_what_a_plugin_does_beside_scheduling_is_told_when_it_fails(shell: Shell, verbose: bool) -> None:
    text = plugin("Fine", "async def background(self): raise ValueError('beside')")
    ended = run(shell, text, "simulate", *(("-v",) if verbose else ()))
    assert ended.code == 0
    first, *more = ended.err.splitlines()
    assert first.startswith('level=error event="background failed, scheduling goes on without it" plugin=P')
    assert first.endswith('error="ValueError: beside (broken.py:11)"')
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


# -- told, though it works --

TWO_ANSWERS = "def filter_node(self, state, pod, node): return None"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            plugin("FilterPlugin", "def promise(self): return None", TWO_ANSWERS),
            "promise(self) cannot be called; write def promise(self, template)",
        ),
        (plugin("PreBindPlugin", 'allows_parallel = "yes"', "def pre_bind(self, *a): return None"), "True or False"),
        (
            plugin("FilterPlugin", "def filter_node(self, pod, node): return None"),
            "filter_node(self, pod, node) cannot be called; write def filter_node(self, state, pod, node)",
        ),
        (
            plugin("Fine", "def requeue_on(self, pod): return ()"),
            "requeue_on(self, pod) cannot be called; write def requeue_on(self)",
        ),
        (
            plugin("Fine", 'def requeue_on(self): return (On("Nodes", Change.ADDED),)'),
            "plugin P: requeue_on: there is no kind 'Nodes'; did you mean \"Node\"?",
        ),
        (
            plugin("Fine", 'def requeue_on(self): return (On("Service", Change.LABEL),)'),
            "of a Service nobody says what changed in it; write On('Service', Change.UPDATED)",
        ),
        (plugin("Fine", 'def requeue_on(self): return (On("Node", "added"),)'), "names no change; write Change.ADDED"),
        (
            plugin("QueueSortPlugin", "def queue_key(self, queued): return 0"),
            "there are 2: PrioritySort, P; disable all but one: plugins: {queueSort: {disabled: [{name: PrioritySort}]}}",
        ),
    ],
)
def test_a_declaration_that_would_have_no_effect_is_refused(shell: Shell, text: str, line: str) -> None:
    ended = run(shell, text, "simulate")

    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert line in ended.err


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            plugin("BindPlugin", "def bind(self, state, pod, node_name): return None"),
            "profiles[0].plugins.bind: P never binds a pod: DefaultBinder comes before it and binds all of them; write "
            "plugins: {bind: {disabled: [{name: DefaultBinder}]}}",
        ),
        (
            plugin("FilterPlugin", TWO_ANSWERS, "def scor_node(self, state, pod, node): return 3"),
            'plugin P: nobody asks for "scor_node"; did you mean "score_node"?',
        ),
        (
            plugin("FilterPlugin", TWO_ANSWERS, "def score_node(self, state, pod, node): return 3"),
            "plugin P: nobody calls score_node, since the class is no ScorePlugin; add that to its bases",
        ),
        (
            plugin("FilterPlugin", TWO_ANSWERS, "filter_depends = 3", "def signature(self, pod): return ()"),
            "plugin P: nobody asks for filter_depends, signature any more; write def promise(self, template), else it is "
            "always asked",
        ),
        (
            plugin("FilterPlugin", TWO_ANSWERS, 'read = ("ConfigMap",)'),
            'plugin P: nobody asks for "read"; did you mean "reads"?',
        ),
    ],
)
def test_what_will_never_be_asked_for_is_told(shell: Shell, text: str, line: str) -> None:
    ended = run(shell, text, "simulate")

    assert (ended.code, ended.err) == (0, f"warning: {line}\n")


def test_a_bind_plugin_that_binds_nothing_is_told(shell: Shell) -> None:
    config = shell.write(
        "config.yaml",
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles: [{plugins: {bind: {enabled: [{name: P}], disabled: [{name: DefaultBinder}]}}}]\n",
    )
    text = plugin("BindPlugin", "async def bind(self, state, pod, node): return None")
    ended = run(shell, text, "simulate", "--config", config)
    assert ended.code == 1
    assert "Pending: default/web: its bind plugin took it as bound and bound it nowhere\n" in ended.out


def test_methods_of_ones_own_are_nobodys_business(shell: Shell) -> None:
    text = plugin(
        "FilterPlugin",
        "def filter_node(self, state, pod, node): return self.filter_nodes(node)",
        "def filter_nodes(self, node): return None",
        "weights = (1, 2)",
    )
    ended = run(shell, text, "simulate")

    assert (ended.code, ended.err) == (0, "")


# -- what plugins may do --


def test_what_a_plugin_prints_goes_to_stderr(shell: Shell) -> None:
    text = "print('import')\n" + plugin("Fine", "def filter_node(self, *a): print('call')")
    ended = run(shell, text, "simulate", "-o", "json")

    assert ended.code == 0
    assert json.loads(ended.out)["summary"]["bound"] == 1
    assert set(ended.err.split()) == {"import", "call"}


@pytest.mark.parametrize("point", ["pre_bind", "bind"])
def test_a_plugin_may_have_a_thread_work_for_it(shell: Shell, point: str) -> None:
    base = {"pre_bind": "PreBindPlugin", "bind": "PostBindPlugin"}[point]
    name = {"pre_bind": "pre_bind", "bind": "post_bind"}[point]
    text = "import asyncio, time\n" + plugin(
        base, f"async def {name}(self, *a): await asyncio.to_thread(time.sleep, 0.01)"
    )
    ended = run(shell, text, "simulate", "-o", "json")

    assert (ended.code, ended.err) == (0, "")
    document = json.loads(ended.out)
    assert [(pod["state"], pod["attempts"], pod["boundAt"]) for pod in document["pods"]] == [("Bound", 1, 0.0)]


@pytest.mark.parametrize("verbose", [False, True])
def test_what_a_plugin_raises_is_told_with_file_and_line(shell: Shell, verbose: bool) -> None:
    text = plugin("Fine", "def filter_node(self, *a): return {}['rack']")
    ended = run(shell, text, "simulate", *(("-v",) if verbose else ()))

    assert "KeyError: 'rack' (broken.py:11)" in ended.out
    assert ("Traceback (most recent call last):\n" in ended.err) is verbose
    assert ('broken.py", line 11, in filter_node' in ended.err) is verbose
