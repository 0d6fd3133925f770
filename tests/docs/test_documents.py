"""
The documents are complete and true: every plugin, public name, command and flag has its place, links lead somewhere,
and what the examples are said to print is what they print.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

import bayplan.framework
from bayplan.cli.main import app
from bayplan.framework import Plugin
from bayplan.framework.config.loading import load_config
from bayplan.framework.config.model import in_file
from bayplan.framework.profile import build_profiles
from bayplan.framework.registry import Registry, points_of
from bayplan.plugins import IN_TREE
from bayplan.plugins.defaults import DEFAULT_PLUGINS
from tests.docs import running
from tests.docs.pages import PLUGIN_PAGES, ROOT, Block, anchors, blocks, links, name_of, pages, section
from tests.support.explaining import explain_documents

SNAKE = {cls: re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.name).lower() for cls in IN_TREE}
DEPLOY = ROOT / "deploy" / "plugins"
CLI_PAGE = ROOT / "docs" / "reference" / "cli.md"

every_plugin = pytest.mark.parametrize("cls", IN_TREE, ids=lambda cls: cls.name)
every_page = pytest.mark.parametrize("page", pages(), ids=name_of)


def plugin_page(cls: type[Plugin]) -> Path:
    return PLUGIN_PAGES / f"{SNAKE[cls]}.md"


# -- plugins: one name finds everything --


@every_plugin
def test_a_plugin_has_code_test_page_and_config_under_its_name(cls: type[Plugin]) -> None:
    snake = SNAKE[cls]
    code, tests = ROOT / "src/bayplan/plugins", ROOT / "tests/plugins"

    assert (code / f"{snake}.py").is_file() or (code / snake / "__init__.py").is_file()
    assert (tests / f"test_{snake}.py").is_file() or list((tests / snake).glob("test_*.py"))
    assert plugin_page(cls).is_file()
    assert (DEPLOY / snake / "scheduler-config.yaml").is_file()


def test_there_are_no_pages_and_configs_of_plugins_that_are_not_there() -> None:
    known = set(SNAKE.values())

    assert {page.stem for page in PLUGIN_PAGES.glob("*.md")} == known
    assert {folder.name for folder in DEPLOY.iterdir()} == known


@every_plugin
def test_a_plugin_page_names_points_reasons_args_and_weight(cls: type[Plugin]) -> None:
    text = plugin_page(cls).read_text()
    weight = next((each.weight for each in DEFAULT_PLUGINS if each.name == cls.name), 1)
    fields = [field.alias for field in cls.Args.model_fields.values()] if cls.Args else []
    points = [in_file(point) for point in points_of(cls)]

    assert text.startswith(f"# {cls.name}\n")
    assert [point for point in points if point[0].upper() + point[1:] not in text] == []
    assert [reason.text for reason in cls.reasons if f"`{reason.text}`" not in text] == []
    assert [field for field in fields if f"| `{field}" not in text] == []
    assert weight == 1 or f"weight {weight}" in text
    assert [kind for kind in cls.kinds_read() if not re.search(rf"^\| Reads \|.*\b{kind}\b", text, re.MULTILINE)] == []


@every_plugin
def test_a_plugins_config_loads_without_warnings_and_runs_it(cls: type[Plugin]) -> None:
    path = DEPLOY / SNAKE[cls] / "scheduler-config.yaml"
    config, warnings = load_config(yaml.safe_load(path.read_text()), path.name)
    profiles, more = build_profiles(config, Registry(IN_TREE), DEFAULT_PLUGINS)
    written = {each.name for profile in config.profiles for each in profile.plugin_config}

    assert warnings + more == []
    assert all(cls.name in profile.instances for profile in profiles.values())
    assert cls.Args is None or cls.name in written, "the config should show the plugin's args"


# -- the contract, the commands --


def test_every_public_name_of_the_framework_is_explained() -> None:
    told = (ROOT / "docs/reference/extension-points.md").read_text()
    told += "".join(page.read_text() for page in (ROOT / "docs/concepts").glob("*.md"))

    assert [name for name in bayplan.framework.__all__ if not re.search(rf"\b{name}\b", told)] == []


def commands() -> dict[str, Any]:
    """Typer carries its own copy of click, so these are of no type that can be named."""
    root: Any = typer.main.get_command(app)
    return {name: command for name, command in root.commands.items() if not command.hidden}


def test_every_command_and_flag_is_in_the_reference() -> None:
    missing = []
    for name, command in commands().items():
        told = section(CLI_PAGE, f"bayplan {name}")
        if not told:
            missing.append(name)
            continue
        for parameter in command.params:
            flags = [flag for flag in [*parameter.opts, *parameter.secondary_opts] if flag.startswith("-")]
            missing += [f"{name} {flag}" for flag in flags if not re.search(rf"`[^`]*{flag}\b", told)]

    assert missing == []


def test_the_reference_has_no_command_that_is_not_there() -> None:
    told = re.findall(r"^## bayplan (\S+)$", CLI_PAGE.read_text(), re.MULTILINE)

    assert sorted(told) == sorted(commands())


# -- pages --


def test_the_readme_is_short_and_shows_how_to_begin() -> None:
    text = (ROOT / "README.md").read_text()

    assert len(text.splitlines()) < 240
    assert "make demo" in text
    assert "make test" in text
    assert [cls.name for cls in IN_TREE if f"docs/plugins/{SNAKE[cls]}.md" not in text] == []


@every_page
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)

    assert broken == []


@every_page
def test_every_yaml_block_parses(page: Path) -> None:
    for block in blocks(page, "yaml"):
        assert [document for document in yaml.safe_load_all(block.text) if document], block.text


@every_page
def test_every_python_block_is_python(page: Path) -> None:
    for block in blocks(page, "python"):
        compile(block.text, name_of(page), "exec")


# -- examples say what they are said to say --


def with_cluster(key: str) -> list[Any]:
    """The blocks that say something of the cluster above them, with that cluster."""
    found = []
    for page in pages():
        cluster: Block | None = None
        for block in blocks(page):
            cluster = block if "cluster" in block.flags else cluster
            if key in block.settings:
                assert cluster is not None, f"{name_of(page)}: no cluster above {block.settings}"
                found.append(pytest.param(cluster.text, block, id=f"{page.stem}-{block.settings[key]}"))
    return found


def explained(cluster: str, pod: str) -> dict[str, Any]:
    return explain_documents(list(yaml.safe_load_all(cluster)), "default", pod, now=0.0, discover=False)


@pytest.mark.parametrize(("cluster", "said"), with_cluster("message"))
def test_an_example_gives_the_message_that_is_shown(cluster: str, said: Block) -> None:
    assert explained(cluster, said.settings["message"])["message"] == said.text.strip()


@pytest.mark.parametrize(("cluster", "said"), with_cluster("scores"))
def test_an_example_gives_the_scores_that_are_shown(cluster: str, said: Block) -> None:
    nodes = explained(cluster, said.settings["scores"])["nodes"]
    scores = {node["name"]: node["scores"][said.settings["plugin"]] for node in nodes if node["feasible"]}

    assert sorted(f"{name} {each['raw']} {each['normalized']}" for name, each in scores.items()) == (
        said.text.strip().splitlines()
    )


@pytest.mark.parametrize(("cluster", "said"), with_cluster("victims"))
def test_an_example_preempts_the_pods_that_are_shown(cluster: str, said: Block) -> None:
    preemption = explained(cluster, said.settings["victims"])["preemption"]

    assert f"{preemption['node']}: {', '.join(preemption['victims'])}" == said.text.strip()


def test_the_configuration_page_shows_the_plugins_that_its_example_gives() -> None:
    page = ROOT / "docs/concepts/configuration.md"
    (example,) = (block for block in blocks(page, "yaml") if "config" in block.flags)
    (said,) = (block for block in blocks(page) if "score" in block.settings)
    config, _ = load_config(yaml.safe_load(example.text), page.name)
    profiles, _ = build_profiles(config, Registry(IN_TREE), DEFAULT_PLUGINS)
    profile = profiles[said.settings["score"]]

    assert [f"{each.name} {profile.weights[each.name]}" for each in profile.extension("score")] == (
        said.text.strip().splitlines()
    )


def with_runs(language: str) -> list[Path]:
    return [page for page in pages() if any("run" in block.flags for block in blocks(page, language))]


@pytest.mark.parametrize("page", with_runs("console"), ids=name_of)
def test_commands_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    """After a change on purpose: python -m tests.docs.running."""
    for block, said in running.said_by(page, tmp_path):
        assert block.text == said


@pytest.mark.parametrize("page", with_runs("python"), ids=name_of)
def test_python_that_is_said_to_run_runs(page: Path, tmp_path: Path) -> None:
    running.files(page, tmp_path)

    assert [running.executed(block, tmp_path) for block in blocks(page, "python") if "run" in block.flags] == [""]


@pytest.mark.parametrize("page", [p for p in pages() if "file=" in p.read_text()], ids=name_of)
def test_plugins_that_are_shown_as_files_can_be_registered(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", sys.path[:])
    running.files(page, tmp_path)
    for path in tmp_path.glob("*.py"):
        cls = Registry().load_spec(f"{path}:{''.join(word.title() for word in path.stem.split('_'))}")

        assert points_of(cls)
