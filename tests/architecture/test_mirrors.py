"""
Every module of `src/bayplan` has its test at the same place in `tests`, or a line here that says where it is tested.

`engine/queue/backoff.py` is tested in `engine/queue/test_backoff.py`, or, where that would grow too long, in several
files whose names begin so.
"""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
SOURCE = TESTS.parent / "src" / "bayplan"

TOGETHER = {
    "cel": "cel",  # by parts of the language
    "engine/kept": "engine/kept/test_memory.py",  # one memory, asked as the engine asks it
    "placement": "placement/test_evaluation.py",  # plans, spreads and quotas show in which clusters are chosen
    "placement/plugins": "placement/test_evaluation.py",
    "app/sweep": "app/sweep/test_running.py",  # one sweep, from file to rows, wherever it runs
    "simulator/sweep": "app/sweep/test_running.py",
    "simulator/traces": "simulator/traces/test_traces.py",
}
"""Folders whose modules are tested together, through the one that all of them are for."""

ELSEWHERE = {
    "app/ui/reviews.py": "app/ui/test_live.py",
    "app/ui/source.py": "app/ui/test_worlds.py",
    "app/placement/decision_writer.py": "app/placement/test_trouble.py",
    "app/placement/live.py": "app/placement/test_deciding.py",
    "app/rebalancer/live_plan.py": "e2e/test_plans.py",
    "app/rebalancer/moving_service.py": "app/rebalancer/test_live.py",
    "app/scheduler/evictions.py": "app/test_preemption.py",
    "app/shell/process.py": "app/scheduler/test_process.py",
    "app/sticky_command.py": "cli/test_sticky.py",
    "cli/cluster_input.py": "cli/test_what_if.py",
    "cli/completions.py": "cli/test_completion.py",
    "cli/options.py": "cli/test_bad_input.py",
    "cli/reporting.py": "cli/test_report.py",
    "cli/output.py": "cli/test_streams.py",
    "cli/placement.py": "e2e/test_placement.py",
    "cli/scheduler.py": "e2e/test_stopping.py",
    "controllers/rebalancer/what_if_cluster.py": "properties/test_rebalancing.py",
    "controllers/spare_capacity/ledgers.py": "controllers/spare_capacity/test_deciding.py",
    "engine/filter_answers.py": "engine/test_filtering.py",
    "engine/node_filters.py": "engine/test_filtering.py",
    "engine/plugin_group.py": "engine/test_evaluation.py",
    "engine/post_filtering.py": "plugins/test_default_preemption.py",
    "engine/table.py": "engine/test_columns.py",
    "framework/config/model.py": "framework/config/test_loading.py",
    "framework/plugin_class.py": "framework/test_plugin.py",
    "framework/snapshot.py": "engine/test_columns.py",
    "objects/admission/pod_admission.py": "objects/admission/test_validating.py",
    "objects/admission/replaced_fields.py": "objects/admission/test_api_fields.py",
    "objects/admission/storage_admission.py": "objects/admission/test_validating.py",
    "objects/files/yaml_aliases.py": "objects/files/test_yaml_reading.py",
    "objects/kind.py": "objects/test_kinds.py",
    "objects/pod_spec.py": "objects/test_pod.py",
    "objects/pod_volume.py": "objects/test_volume.py",
    "objects/third_party/placement.py": "objects/test_custom_fields.py",
    "objects/third_party/placement_noticing.py": "placement/test_validation.py",
    "objects/third_party/placement_validating.py": "placement/test_validation.py",
    "plugins/attachable_volumes.py": "plugins/test_node_volume_limits.py",
    "simulator/comparison/text.py": "cli/test_compare.py",
    "simulator/comparison/tipping.py": "simulator/comparison/test_comparing.py",
    "simulator/controllers/deployments.py": "simulator/controllers/test_rollouts.py",
    "simulator/controllers/node_lifecycle.py": "simulator/controllers/test_taint_eviction.py",
    "simulator/controllers/pod_makers.py": "simulator/controllers/test_workloads.py",
    "simulator/controllers/rolling_sizes.py": "simulator/controllers/test_rollouts.py",
    "simulator/controllers/stateful_sets.py": "simulator/controllers/test_rollouts.py",
    "simulator/explain/outcomes.py": "simulator/explain/test_text.py",
    "simulator/explain/subject.py": "cli/test_explain.py",
    "simulator/fit/making_room.py": "simulator/fit/test_planning.py",
    "simulator/fit/moves.py": "simulator/fit/test_planning.py",
    "simulator/fit/shrinking.py": "simulator/fit/test_planning.py",
    "simulator/fit/text.py": "cli/test_fit.py",
    "simulator/load/wiring.py": "simulator/load/test_simulated_load.py",
    "simulator/report/rebalancing_report.py": "simulator/test_rebalancer.py",
    "simulator/report/rollout_report.py": "simulator/controllers/test_rollouts.py",
    "simulator/report/usage_plot.py": "simulator/load/test_simulated_load.py",
    "simulator/timetable_checking.py": "simulator/test_timed_changes.py",
    "simulator/what_if/condition.py": "simulator/what_if/test_scenario.py",
    "simulator/what_if/difference.py": "simulator/what_if/test_scenario.py",
    "simulator/what_if/new_nodes.py": "simulator/what_if/test_scenario.py",
    "simulator/what_if/reconfiguring.py": "simulator/what_if/test_scenario.py",
    "simulator/what_if/text.py": "cli/test_what_if.py",
    "simulator/world.py": "simulator/test_simulation.py",
    "testing/agreement.py": "properties/test_forms_agree.py",
    "testing/generating.py": "properties/test_kept_answers_agree.py",
    "testing/parts.py": "testing/test_builders.py",
    "view/command_views.py": "cli/test_report.py",
    "view/documents.py": "view/test_simulation_view.py",
    "view/looks.py": "cli/test_report.py",
    "view/picture_parts.py": "view/test_pictures.py",
    "view/world_view.py": "view/test_simulation_view.py",
}

NO_RULE = {
    "controllers/spare_capacity/settings.py": "numbers that the command line sets",
    "engine/events.py": "what can happen, as data",
    "engine/intents.py": "what the engine wants done, as data",
    "framework/decision.py": "what was decided, as data",
    "framework/handle.py": "what plugins may ask, as protocols",
    "framework/ports.py": "what the engine needs from outside, as protocols",
    "objects/devices/names.py": "constants",
    "objects/extender.py": "fields of a configuration file",
}


def modules() -> list[str]:
    found = (path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))
    return sorted(name for name in found if not name.endswith(("__init__.py", "__main__.py")))


def has_mirror(module: str) -> bool:
    path = TESTS / module
    return any(path.parent.glob(f"test_{path.stem}.py")) or any(path.parent.glob(f"test_{path.stem}_*.py"))


def is_part_of_a_plugin(module: str) -> bool:
    """A plugin that is a folder is tested by extension point, through the plugin itself."""
    parts = module.split("/")
    return len(parts) == 3 and parts[0] == "plugins" and any((TESTS / "plugins" / parts[1]).glob("test_*.py"))


@pytest.mark.parametrize("module", modules())
def test_every_module_has_its_tests(module: str) -> None:
    folders = {folder.as_posix() for folder in Path(module).parents}
    known = module in ELSEWHERE or module in NO_RULE or folders & TOGETHER.keys()
    assert has_mirror(module) or is_part_of_a_plugin(module) or known, (
        f"write tests/{Path(module).parent}/test_{Path(module).name}"
    )


@pytest.mark.parametrize("where", sorted({*TOGETHER.values(), *ELSEWHERE.values()}))
def test_what_the_lists_name_is_there(where: str) -> None:
    assert (TESTS / where).exists()


def test_no_list_names_a_module_that_has_a_mirror() -> None:
    assert [module for module in (*ELSEWHERE, *NO_RULE) if has_mirror(module)] == []
