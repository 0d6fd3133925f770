"""``bayplan replay``: a recording decided again, and where the decisions differ."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayplan.cli import options
from bayplan.cli.output import WRONG, Shape, show, warn
from bayplan.cli.progress import progress
from bayplan.errors import InputError

EXAMPLES = """\
bayplan snapshot --watch monday.jsonl.gz --for 1h
bayplan replay monday.jsonl.gz                 # with the default plugins
bayplan replay monday.jsonl.gz --config other.yaml -o json
"""


def replay(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A recording of bayplan snapshot --watch.")],
    config: options.Config = None,
    plugin: options.PluginSpecs = None,
    profile: options.DecidingProfile = "",
    every: options.EveryVerdict = False,
    output: Annotated[Shape, typer.Option("--output", "-o", help="How to show the result.")] = Shape.TABLE,
    verbose: options.Verbose = False,
) -> int:
    """
    Decide every bind of a recorded cluster again, in virtual time, and say where the decisions differ.

    Each pod is decided at the state just before its recorded bind, and then goes where the recording says: so one
    difference does not make others.  A tie (their node has the same total as ours) is no difference, nor is a race (in
    one of the orders that binds under way may have had it is the same node); both are counted by themselves.

    Exit code 0: the same decisions, or ties and races.  1: some pods differ or are infeasible.  2: the file is no
    recording, the configuration is wrong, or a plugin failed.
    """
    from bayplan.app.config_file import read_config
    from bayplan.plugins.plugin_set import registry
    from bayplan.simulator.replay.replaying import replay as replayed

    settings = read_config(None if config is None else Path(config), plugin or ())
    names = [each.scheduler_name for each in settings.profiles]
    if profile and profile not in names:
        raise InputError(f'there is no profile "{profile}"', field="--profile", fix=f"write one of {', '.join(names)}")
    with progress("lines read") as tell:
        result = replayed(
            file,
            settings,
            registry(plugin or ()),
            profile=profile or (names[0] if config is None else ""),
            with_all=every,
            warn=warn,
            progress=tell,
        )
    show(result.as_document(), output, result.as_text)
    if result.tally.has_errors:
        return WRONG
    return int(result.tally.is_different)
