"""Every mistake in the input is one clear line: which file, object and field, and what to write instead."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.support import NODE, POD, Shell, joined

CONFIG = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
ONE_PROFILE = CONFIG + "profiles:\n- schedulerName: default-scheduler\n  plugins:\n"


def with_spec(text: str) -> str:
    return POD.replace("spec:\n", f"spec:\n  {text}\n")


def with_cpu(quantity: str) -> str:
    return POD.replace('cpu: "1"', f"cpu: {quantity}")


def with_affinity(expression: str) -> str:
    term = f"{{nodeSelectorTerms: [{{matchExpressions: [{expression}]}}]}}"
    return with_spec(f"affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {term}}}}}")


def with_spread(selector: str) -> str:
    constraint = "maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule"
    return with_spec(f"topologySpreadConstraints: [{{{constraint}, labelSelector: {selector}}}]")


def with_replicas(number: int) -> str:
    template = "{metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}"
    spec = f"{{replicas: {number}, selector: {{matchLabels: {{a: b}}}}, template: {template}}}"
    return f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec: {spec}\n"


MANIFESTS = [
    ("broken YAML", "apiVersion: v1\nkind: Pod\n  metadata: {}\n", "in.yaml:3: this is not YAML: mapping values"),
    ("a tab", "apiVersion: v1\n\tkind: Pod\n", "in.yaml:2: this is not YAML: found a tab character"),
    ("a key that occurs twice", "kind: Pod\nkind: Pod\n", 'in.yaml:2: the key "kind" occurs twice in one mapping'),
    ("an empty file", "", "in.yaml: holds no objects; give a file with at least one object"),
    ("nothing but comments", "# later\n---\n", "in.yaml: holds no objects"),
    ("text that is no object", "hello\n", 'in.yaml:1: expected an object, found "hello"'),
    (
        "an item that is nothing",
        "apiVersion: v1\nkind: List\nitems:\n- null\n",
        "in.yaml:4: expected an object, found null; begin with apiVersion, kind and metadata",
    ),
    ("levels without end", "[" * 3000 + "]" * 3000, "in.yaml:1: nested too deeply to be read; write fewer levels"),
    (
        "too many replicas for the field",
        with_replicas(99999999999),
        "in.yaml:1: Deployment web: spec.replicas: 99999999999 is too large; write a 32-bit whole number",
    ),
    (
        "too many replicas for a simulation",
        with_replicas(2147483647),
        "in.yaml:1: Deployment web: spec.replicas: 2147483647 pods are too many to simulate; write at most 5000000",
    ),
    ("no kind", "apiVersion: v1\nmetadata: {name: a}\n", "in.yaml:1: object a: kind: no kind"),
    ("no version", "kind: Pod\nmetadata: {name: a}\n", "in.yaml:1: Pod a: apiVersion: no apiVersion"),
    (
        "the wrong version",
        "apiVersion: v1\nkind: Deployment\nmetadata: {name: a}\n",
        'in.yaml:1: Deployment a: apiVersion: there is no Deployment in "v1"; write apps/v1 instead',
    ),
    (
        "a quantity with a blank",
        with_cpu('"1 Gi"'),
        'in.yaml:1: Pod web: spec.containers[0].resources.requests.cpu: "1 Gi" is not a quantity; write "1Gi" instead',
    ),
    (
        "a quantity below zero",
        with_cpu("-5"),
        "in.yaml:1: Pod web: spec.containers[0].resources.requests.cpu: -5 is less than nothing; write 0 or more",
    ),
    (
        "a quantity that is none",
        with_cpu("abc"),
        'in.yaml:1: Pod web: spec.containers[0].resources.requests.cpu: "abc" is not a quantity; write a number',
    ),
    (
        "a node with a quantity that is none",
        NODE.replace("8Gi", "lots"),
        'in.yaml:1: Node n1: status.allocatable.memory: "lots" is not a quantity',
    ),
    (
        "an unknown operator",
        with_affinity("{key: disk, operator: Is, values: [ssd]}"),
        "in.yaml:1: Pod web: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
        ".nodeSelectorTerms[0].matchExpressions[0]",
    ),
    (
        "an invalid selector",
        with_spread("{matchExpressions: [{key: app, operator: In}]}"),
        "in.yaml:1: Pod web: spec.topologySpreadConstraints[0].labelSelector",
    ),
    (
        "a selector with a key that is none",
        with_spread("{matchLabels: {'app name': web}}"),
        "in.yaml:1: Pod web: spec.topologySpreadConstraints[0].labelSelector",
    ),
    (
        "a priority class that is not there",
        with_spec("priorityClassName: urgent"),
        'in.yaml:1: Pod web: spec.priorityClassName: there is no PriorityClass "urgent"; add that PriorityClass or '
        "write one of system-cluster-critical, system-node-critical",
    ),
    (
        "an object that is there already",
        joined(POD, NODE, POD),
        "in.yaml:13: Pod web: this object is already at in.yaml:1; remove one of the two",
    ),
    (
        "a number where text belongs",
        POD.replace("metadata: {name: web}", "metadata: {name: web, labels: {version: 1}}"),
        'in.yaml:1: Pod web: metadata.labels.version: must be text, not a whole number (1); put it in quotes: "1"',
    ),
    (
        "a list where a mapping belongs",
        POD.replace("metadata: {name: web}", "metadata: [web]"),
        "in.yaml:1: Pod: metadata: must be a mapping, not a list",
    ),
    (
        "a selector that its own template does not match",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n"
        "  template: {metadata: {labels: {app: api}}, spec: {containers: [{name: c, image: web}]}}\n",
        "in.yaml:1: Deployment web: spec.template.metadata.labels: do not match spec.selector",
    ),
]


@pytest.mark.parametrize(("case", "text", "line"), MANIFESTS, ids=[case for case, _, _ in MANIFESTS])
def test_a_mistake_in_a_manifest(shell: Shell, case: str, text: str, line: str) -> None:
    shell.write("in.yaml", text)
    ended = shell.run("simulate", "-f", "in.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1, ended.err
    assert ended.err.startswith(f"error: {line}"), ended.err


@pytest.mark.parametrize("command", [("simulate",), ("explain", "pod", "web")])
def test_a_missing_file(shell: Shell, command: tuple[str, ...]) -> None:
    ended = shell.run(*command, "-f", "nowhere.yaml")
    assert (ended.code, ended.err) == (2, "error: nowhere.yaml: no such file or folder; check the path\n")


def test_an_empty_folder(shell: Shell) -> None:
    (shell.folder / "empty").mkdir()
    ended = shell.run("simulate", "-f", "empty")
    assert ended.code == 2
    assert ended.err.startswith("error: empty: no .yaml, .yml or .json file in this folder; give another one")


def test_a_web_address(shell: Shell) -> None:
    ended = shell.run("simulate", "-f", "https://example.com/all.yaml")
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)
    assert "download it first" in ended.err


def test_several_mistakes_are_told_at_once(shell: Shell) -> None:
    shell.write("in.yaml", joined(with_cpu("abc"), with_cpu("-1").replace("web", "api"), NODE.replace("8Gi", "x")))
    ended = shell.run("simulate", "-f", "in.yaml")
    assert ended.code == 2
    assert [line.split(": ")[2] for line in ended.err.splitlines()] == ["Pod web", "Pod api", "Node n1"]


CONFIGS = [
    (
        "an unknown field",
        CONFIG + "profilez: []\n",
        'config.yaml: profilez: unknown field; did you mean "profiles"?',
    ),
    (
        "a plugin that is not there",
        ONE_PROFILE + "    score: {enabled: [{name: NodeResourceFit}]}\n",
        "config.yaml: profiles[0].plugins.score.enabled[0].name: unknown plugin "
        '"NodeResourceFit"; did you mean "NodeResourcesFit"?',
    ),
    (
        "a plugin at a point it does not take part in",
        ONE_PROFILE + "    filter: {enabled: [{name: ImageLocality}]}\n",
        "config.yaml: profiles[0].plugins.filter.enabled[0].name: ImageLocality does not take part in filter",
    ),
    (
        "args that a plugin does not know",
        ONE_PROFILE.replace("  plugins:\n", "  pluginConfig:\n")
        + "  - name: NodeResourcesFit\n    args: {scoringStrategi: {}}\n",
        "config.yaml: profiles[0].pluginConfig[0].args.scoringStrategi: unknown field",
    ),
    (
        "a number that is too small",
        CONFIG + "parallelism: 0\n",
        "config.yaml: parallelism: ",
    ),
    ("another kind", NODE, "config.yaml: expected one KubeSchedulerConfiguration, found Node"),
    ("broken YAML", "kind: [\n", "config.yaml:2: this is not YAML"),
]


@pytest.mark.parametrize(("case", "text", "line"), CONFIGS, ids=[case for case, _, _ in CONFIGS])
def test_a_mistake_in_a_configuration(shell: Shell, case: str, text: str, line: str) -> None:
    shell.write("in.yaml", NODE)
    shell.write("config.yaml", text)
    ended = shell.run("simulate", "-f", "in.yaml", "--config", "config.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1, ended.err
    assert ended.err.startswith(f"error: {line}"), ended.err


def test_an_unknown_plugin_under_disabled_is_a_warning_only(shell: Shell) -> None:
    shell.write("in.yaml", joined(NODE, POD))
    shell.write("config.yaml", ONE_PROFILE + "    score: {disabled: [{name: NodeResourceFit}]}\n")
    ended = shell.run("simulate", "-f", "in.yaml", "--config", "config.yaml")
    assert ended.code == 0
    assert ended.err.splitlines() == [
        "warning: config.yaml: profiles[0].plugins.score.disabled[0].name: "
        'there is no plugin "NodeResourceFit" to disable; did you mean "NodeResourcesFit"?'
    ]


def test_two_configurations(shell: Shell) -> None:
    shell.write("in.yaml", joined(NODE, CONFIG))
    shell.write("config.yaml", CONFIG)
    ended = shell.run("simulate", "-f", "in.yaml", "--config", "config.yaml")
    assert ended.code == 2
    assert "there is a KubeSchedulerConfiguration in config.yaml:1 already" in ended.err


PLUGINS = [
    ("no colon", "mine", "--plugin mine: write module:Class or path/to/file.py:Class"),
    ("no file", "nowhere.py:Mine", "--plugin nowhere.py:Mine: no file "),
    ("no such class", "mine.py:Other", '--plugin mine.py:Other: mine.py has no class "Other"'),
    ("not a plugin", "mine.py:Plain", "--plugin mine.py:Plain: class Plain is not a plugin"),
    ("neither form", "neither.py:Mine", "--plugin neither.py:Mine: importing"),
]


@pytest.mark.parametrize(("case", "spec", "line"), PLUGINS, ids=[case for case, _, _ in PLUGINS])
def test_a_plugin_that_cannot_be_loaded(shell: Shell, case: str, spec: str, line: str) -> None:
    shell.write("in.yaml", NODE)
    shell.write("mine.py", "class Plain:\n    pass\n")
    shell.write(
        "neither.py", "from bayplan.framework import FilterPlugin\n\nclass Mine(FilterPlugin):\n    name = 'Mine'\n"
    )
    ended = shell.run("simulate", "-f", "in.yaml", "--plugin", spec)
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1, ended.err
    assert ended.err.startswith(f"error: {line}"), ended.err


def test_a_plugin_with_the_name_of_another(shell: Shell) -> None:
    shell.write("in.yaml", NODE)
    shell.write(
        "mine.py",
        "from bayplan.framework import ScorePlugin\n\nclass Mine(ScorePlugin):\n    name = 'NodeAffinity'\n\n"
        "    def score_node(self, state, pod, node):\n        return 0\n",
    )
    ended = shell.run("simulate", "-f", "in.yaml", "--plugin", "mine.py:Mine")
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)
    assert 'plugin name "NodeAffinity" is taken twice' in ended.err


FILES = [
    ("standard input twice", ["-", "-"], "-f: standard input can be read only once; write -f - once"),
    ("an empty path", [""], "-f: an empty path; name a file, a folder or -"),
    ("a link to itself", ["loop.yaml"], "loop.yaml: cannot be read: Too many levels of symbolic links; the link leads"),
    ("a path that is too long", ["x" * 300], f"{'x' * 300}: cannot be read: File name too long; give another file"),
    (
        "broken JSON",
        ["broken.json"],
        "broken.json:2: this is not JSON: illegal trailing comma before end of object; check the commas",
    ),
]


@pytest.mark.parametrize(("case", "names", "line"), FILES, ids=[case for case, _, _ in FILES])
def test_a_file_that_cannot_be_read(shell: Shell, case: str, names: list[str], line: str) -> None:
    (shell.folder / "loop.yaml").symlink_to("loop.yaml")
    shell.write("broken.json", '{\n "kind": "Pod",\n}\n]')
    ended = shell.run("simulate", *(argument for name in names for argument in ("-f", name)))
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1, ended.err
    assert ended.err.startswith(f"error: {line}"), ended.err


def test_yaml_in_a_file_that_is_called_json_is_read(shell: Shell) -> None:
    shell.write("all.json", joined(NODE, POD))
    assert shell.run("simulate", "-f", "all.json").code == 0


CLOSED = [
    ("-f - <&-", "standard input: is closed; send objects through a pipe or name a file"),
    ("-f in.yaml >&-", "standard output is closed; send it to a file or through a pipe"),
    ("-f in.yaml >/dev/full", "standard output cannot be written: No space left on device; send it somewhere else"),
    ("-f in.yaml -o json >/dev/full", "standard output cannot be written: No space left on device; send it somewhere"),
]


@pytest.mark.parametrize(("arguments", "line"), CLOSED)
def test_streams_that_are_closed_or_full(shell: Shell, arguments: str, line: str) -> None:
    shell.write("in.yaml", joined(NODE, POD))
    ended = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m bayplan simulate {arguments}"],
        cwd=shell.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, len(ended.stderr.splitlines())) == (2, 1), ended.stderr
    assert ended.stderr.startswith(f"error: {line}")
