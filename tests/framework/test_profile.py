"""Profiles from configurations: order, weights, args, instances, and what makes a profile impossible."""

from __future__ import annotations

from dataclasses import make_dataclass
from typing import Any

import pytest

from bayplan.errors import BayplanError, ConfigError, InvalidArgsError, InvalidProfileError, UnknownPluginError
from bayplan.framework.config.model import PluginRef, Plugins, PluginSet, ProfileConfig, SchedulerConfig
from bayplan.framework.plugin import EXTENSION_POINTS
from bayplan.framework.profile import DefaultPlugin, Profile, build_profiles
from tests.framework.fakes import DEFAULTS, LoadArgs, config, from_file, plugin, registry


def build(text: str, **options: Any) -> dict[str, Profile]:
    return build_profiles(config(text), registry(), DEFAULTS, **options)[0]


def only(text: str, **options: Any) -> Profile:
    (profile,) = build(f"profiles: [{text}]", **options).values()
    return profile


def names(profile: Profile, point: str) -> str:
    return " ".join(plugin.name for plugin in profile.extension(point))


def refused(text: str, kind: type[BayplanError]) -> list[str]:
    with pytest.raises(kind) as caught:
        build(text)
    assert type(caught.value) is kind
    found = str(caught.value).splitlines()
    assert all(line.startswith("cfg.yaml: ") for line in found)
    return [line.removeprefix("cfg.yaml: ") for line in found]


# -- order --


def test_the_default_profile_has_every_default_plugin_at_all_its_points() -> None:
    profile = build("")["default-scheduler"]
    assert set(profile.plugins) == set(EXTENSION_POINTS)
    assert {point: names(profile, point) for point in profile.plugins if profile.extension(point)} == {
        "queue_sort": "Sort",
        "pre_filter": "Fit Volume",
        "filter": "Taint Fit Volume",
        "pre_score": "Taint Fit",
        "score": "Taint Fit",
        "reserve": "Volume",
        "pre_bind": "Volume",
        "bind": "Binder",
    }


@pytest.mark.parametrize(
    ("sentence", "plugins", "point", "result"),
    [
        ("written at the point comes last", "{filter: {enabled: [{name: Mine}]}}", "filter", "Taint Fit Volume Mine"),
        ("it is not at other points", "{filter: {enabled: [{name: Mine}]}}", "score", "Taint Fit"),
        ("at multiPoint it is at all its points", "{multiPoint: {enabled: [{name: Mine}]}}", "score", "Taint Fit Mine"),
        ("disabled at one point", "{filter: {disabled: [{name: Fit}]}}", "filter", "Taint Volume"),
        ("it stays at the others", "{filter: {disabled: [{name: Fit}]}}", "pre_filter", "Fit Volume"),
        ("disabled everywhere", "{multiPoint: {disabled: [{name: Fit}]}}", "pre_filter", "Volume"),
        ("* at a point", "{score: {disabled: [{name: '*'}]}}", "score", ""),
        ("* at a point and one back", "{score: {disabled: [{name: '*'}], enabled: [{name: Fit}]}}", "score", "Fit"),
        ("a default moved to the front", "{filter: {enabled: [{name: Volume}]}}", "filter", "Volume Taint Fit"),
        (
            "a default moved to the end",
            "{filter: {disabled: [{name: Taint}], enabled: [{name: Taint}]}}",
            "filter",
            "Fit Volume Taint",
        ),
        (
            "overrides, multiPoint, the rest",
            "{multiPoint: {enabled: [{name: Yours}]}, filter: {enabled: [{name: Mine}, {name: Yours}, {name: Fit}]}}",
            "filter",
            "Yours Fit Taint Volume Mine",
        ),
        (
            "enabled wins over disabled at multiPoint",
            "{multiPoint: {disabled: [{name: '*'}], enabled: [{name: Sort}, {name: Binder}, {name: Fit}]}}",
            "filter",
            "Fit",
        ),
    ],
)
def test_plugins_come_in_kube_schedulers_order(sentence: str, plugins: str, point: str, result: str) -> None:
    assert names(only(f"{{plugins: {plugins}}}"), point) == result, sentence


# -- weights --


@pytest.mark.parametrize(
    ("plugins", "weights"),
    [
        ("{}", {"Taint": 3, "Fit": 1}),
        ("{score: {enabled: [{name: Taint, weight: 9}]}}", {"Taint": 9, "Fit": 1}),
        ("{multiPoint: {enabled: [{name: Taint, weight: 9}]}}", {"Taint": 9, "Fit": 1}),
        (
            "{multiPoint: {enabled: [{name: Mine, weight: 5}]}, score: {enabled: [{name: Mine, weight: 2}]}}",
            {"Taint": 3, "Fit": 1, "Mine": 2},
        ),
        (
            "{multiPoint: {enabled: [{name: Mine, weight: 5}]}, score: {enabled: [{name: Mine}]}}",
            {"Taint": 3, "Fit": 1, "Mine": 1},
        ),
        ("{score: {enabled: [{name: Mine, weight: 0}]}}", {"Taint": 3, "Fit": 1, "Mine": 1}),
        ("{filter: {enabled: [{name: Mine, weight: 7}]}}", {"Taint": 3, "Fit": 1}),
        ("{score: {disabled: [{name: Taint}]}}", {"Fit": 1}),
    ],
)
def test_weights_are_looked_up_at_score_then_at_multi_point(plugins: str, weights: dict[str, int]) -> None:
    assert only(f"{{plugins: {plugins}}}").weights == weights


def test_the_share_of_nodes_is_the_profiles_own_or_the_common_one() -> None:
    common = "percentageOfNodesToScore: 40\n"
    profiles = "profiles: [{schedulerName: a}, {schedulerName: b, percentageOfNodesToScore: 0}]"
    assert {n: p.percentage_of_nodes_to_score for n, p in build(common + profiles).items()} == {"a": 40, "b": 0}
    assert {n: p.percentage_of_nodes_to_score for n, p in build(profiles).items()} == {"a": None, "b": 0}


# -- instances --


def test_a_profile_has_one_instance_of_a_plugin_and_profiles_share_none() -> None:
    profiles = build("profiles: [{schedulerName: a}, {schedulerName: b}]")
    assert list(profiles) == ["a", "b"]
    fit = profiles["a"].instances["Fit"]
    assert all(fit in profiles["a"].extension(point) for point in ("pre_filter", "filter", "pre_score", "score"))
    assert profiles["b"].instances["Fit"] is not fit


def test_only_plugins_that_are_named_are_made() -> None:
    profile = only("{plugins: {multiPoint: {disabled: [{name: Volume}]}, filter: {enabled: [{name: Mine}]}}}")
    assert sorted(profile.instances) == ["Binder", "Fit", "Mine", "Sort", "Taint"]


def test_plugins_get_their_args_and_a_handle() -> None:
    handles: dict[str, Any] = {}

    def handle_for(name: str) -> Any:
        return handles.setdefault(name, object())

    text = "{plugins: {filter: {enabled: [{name: Load}]}}, pluginConfig: [{name: Load, args: {cpuLimit: 0.5}}]}"
    load = only(text, handle=handle_for).instances["Load"]
    assert load.args == LoadArgs(cpu_limit=0.5)
    assert load.handle is handles["default-scheduler"]
    assert only("{plugins: {filter: {enabled: [{name: Load}]}}}").instances["Load"].args == LoadArgs()


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (ValueError("no such file"), InvalidArgsError, "plugin Odd: no such file"),
        (ConfigError("bad policy"), InvalidArgsError, "plugin Odd: bad policy"),
        (TypeError("a\nb"), InvalidProfileError, "plugin Odd could not be made: TypeError: a b"),
        (SystemExit(7), InvalidProfileError, "plugin Odd could not be made: SystemExit: 7"),
    ],
)
def test_a_plugin_that_cannot_be_made_is_named(error: BaseException, kind: type[ConfigError], text: str) -> None:
    def fail(self: Any, args: Any, handle: Any) -> None:
        raise error

    odd = plugin("Odd", "filter", __init__=fail)
    with pytest.raises(kind) as caught:
        build_profiles(config(""), registry(odd), [*DEFAULTS, DefaultPlugin("Odd")])
    assert str(caught.value) == f"cfg.yaml: profiles[0]: {text}"


# -- plugins from the command line --


def test_an_extra_plugin_joins_every_profile_at_all_its_points() -> None:
    profiles = build("profiles: [{schedulerName: a}, {schedulerName: b}]", extra_enabled=["Mine", "Mine"])
    for profile in profiles.values():
        assert names(profile, "filter") == "Taint Fit Volume Mine"
        assert profile.weights["Mine"] == 1


@pytest.mark.parametrize(
    "plugins",
    ["{score: {enabled: [{name: Mine, weight: 4}]}}", "{multiPoint: {disabled: [{name: Mine}]}}"],
)
def test_an_extra_plugin_that_the_configuration_names_is_used_as_it_says(plugins: str) -> None:
    written = f"profiles: [{{schedulerName: a, plugins: {plugins}}}, {{schedulerName: b}}]"
    for name, profile in build(written, extra_enabled=["Mine"]).items():
        assert names(profile, "filter") == "Taint Fit Volume"
        assert ("Mine" in profile.weights) is (name == "a" and "score" in plugins)


def test_an_extra_plugin_that_is_there_by_default_changes_nothing() -> None:
    assert names(only("{}", extra_enabled=["Fit"]), "filter") == "Taint Fit Volume"


# -- mistakes --


@pytest.mark.parametrize(
    ("profile", "kind", "line"),
    [
        ("{plugins: {filter: {enabled: [{name: Mein}]}}}", UnknownPluginError,
         'plugins.filter.enabled[0].name: unknown plugin "Mein"; did you mean "Mine"?'),
        ("{plugins: {multiPoint: {enabled: [{name: Fit}, {name: Qqq}]}}}", UnknownPluginError,
         'plugins.multiPoint.enabled[1].name: unknown plugin "Qqq"'),
        ("{plugins: {bind: {enabled: [{name: Mine}]}}}", InvalidProfileError,
         "plugins.bind.enabled[0].name: Mine does not take part in bind, only in filter, score"),
        ("{plugins: {preScore: {enabled: [{name: Volume}]}}}", InvalidProfileError,
         "plugins.preScore.enabled[0].name: Volume does not take part in preScore, "
         "only in preFilter, filter, reserve, preBind"),
        ("{plugins: {queueSort: {disabled: [{name: '*'}]}}}", InvalidProfileError,
         "plugins.queueSort: exactly one plugin must sort the queue, but there is none"),
        ("{plugins: {queueSort: {enabled: [{name: OtherSort}]}}}", InvalidProfileError,
         "plugins.queueSort: exactly one plugin must sort the queue, but there are 2: Sort, OtherSort; "
         "disable all but one: plugins: {queueSort: {disabled: [{name: Sort}]}}"),
        ("{plugins: {bind: {disabled: [{name: Binder}]}}}", InvalidProfileError,
         "plugins.bind: at least one plugin must bind, but there is none; enable DefaultBinder"),
        ("{pluginConfig: [{name: Load, args: {cpuLimt: 1}}]}", InvalidArgsError,
         'pluginConfig[0].args.cpuLimt: unknown field; did you mean "cpuLimit"?'),
        ("{pluginConfig: [{name: Fit, args: {x: 1}}]}", InvalidArgsError,
         'pluginConfig[0].args: Fit takes no args; remove "x"'),
        ("{pluginConfig: [{name: Load, args: {cpuLimit: 3}}]}", InvalidArgsError,
         "pluginConfig[0].args: cpu_limit must be in (0, 1]: 3.0"),
    ],
)  # fmt: skip
def test_a_profile_that_cannot_work_gets_a_line(profile: str, kind: type[ConfigError], line: str) -> None:
    assert refused(f"profiles: [{profile}]", kind) == [f"profiles[0].{line}"]


def test_mistakes_of_all_profiles_are_listed_and_the_first_names_the_error() -> None:
    assert refused(
        """
profiles:
- schedulerName: a
  plugins: {filter: {enabled: [{name: Mein}]}, bind: {enabled: [{name: Fit}]}}
- schedulerName: b
  pluginConfig: [{name: Load, args: {cpuLimit: x, maxAge: y}}]
""",
        UnknownPluginError,
    ) == [
        'profiles[0].plugins.filter.enabled[0].name: unknown plugin "Mein"; did you mean "Mine"?',
        "profiles[0].plugins.bind.enabled[0].name: Fit does not take part in bind, "
        "only in preFilter, filter, preScore, score",
        'profiles[1].pluginConfig[0].args.cpuLimit: must be a number, not "x"',
        'profiles[1].pluginConfig[0].args.maxAge: must be an integer, not "y"',
    ]


def test_a_default_plugin_that_is_not_registered_is_named() -> None:
    with pytest.raises(UnknownPluginError, match=r'^default plugins: unknown plugin "Fitt"; did you mean "Fit"\?$'):
        build_profiles(SchedulerConfig(), registry(), [*DEFAULTS, DefaultPlugin("Fitt")])


def test_args_that_a_plugin_cannot_do_without_are_missed() -> None:
    needy = plugin("Needy", "filter", Args=make_dataclass("NeedyArgs", [("path", str)], frozen=True))
    with pytest.raises(InvalidArgsError) as caught:
        build_profiles(config(""), registry(needy), [*DEFAULTS, DefaultPlugin("Needy")])
    assert str(caught.value) == "cfg.yaml: profiles[0].pluginConfig(Needy).args.path: is missing, but required"


def test_profiles_must_sort_the_queue_with_the_same_plugin() -> None:
    # Both write the same queueSort set; what multiPoint brings differs.
    text = """
profiles:
- schedulerName: a
- schedulerName: b
  plugins: {multiPoint: {disabled: [{name: Sort}], enabled: [{name: OtherSort}]}}
"""
    assert refused(text, InvalidProfileError) == [
        "profiles[1].plugins.queueSort: OtherSort sorts the queue here, but Sort in profiles[0]; "
        "there is one queue for all"
    ]


def test_profiles_must_sort_the_queue_with_the_same_args() -> None:
    plugins = "{multiPoint: {disabled: [{name: Sort}], enabled: [{name: OtherSort}]}}"
    text = f"""
profiles:
- {{schedulerName: a, plugins: {plugins}, pluginConfig: [{{name: OtherSort, args: {{by: age}}}}]}}
- {{schedulerName: b, plugins: {plugins}}}
"""
    assert refused(text, InvalidProfileError) == [
        "profiles[1].pluginConfig: the args of OtherSort, which sorts the queue, must be the same as in profiles[0]"
    ]


def test_a_configuration_made_by_a_program_is_checked_too() -> None:
    twice = PluginSet(enabled=(PluginRef(name="Mine"), PluginRef(name="Mine")))
    made = SchedulerConfig(profiles=(ProfileConfig(scheduler_name="a", plugins=Plugins(filter=twice)),))
    with pytest.raises(InvalidProfileError) as caught:
        build_profiles(made, registry(), DEFAULTS)
    assert str(caught.value) == 'profiles[0].plugins.filter.enabled[1].name: "Mine" is listed twice; keep one'


# -- warnings --


@pytest.mark.parametrize(
    ("profile", "line"),
    [
        ("{plugins: {preFilter: {disabled: [{name: Volum}]}}}",
         'plugins.preFilter.disabled[0].name: there is no plugin "Volum" to disable; did you mean "Volume"?'),
        ("{plugins: {multiPoint: {disabled: [{name: '*'}, {name: Qqq}], "
         "enabled: [{name: Sort}, {name: Binder}]}}}",
         'plugins.multiPoint.disabled[1].name: there is no plugin "Qqq" to disable'),
        ("{pluginConfig: [{name: Lode, args: {x: 1}}]}",
         'pluginConfig[0].name: there is no plugin "Lode" to configure; did you mean "Load"?'),
        ("{pluginConfig: [{name: Load}]}",
         "pluginConfig[0].name: Load is not enabled, so its args have no effect"),
        ("{plugins: {placementScore: {enabled: [{name: PodGroupPodsCount}]}}}",
         "plugins.placementScore.enabled: is ignored: pod groups are not scheduled"),
    ],
)  # fmt: skip
def test_what_has_no_effect_gets_a_warning(profile: str, line: str) -> None:
    profiles, warnings = build_profiles(config(f"profiles: [{profile}]"), registry(), DEFAULTS)
    assert list(profiles) == ["default-scheduler"]
    assert warnings == [f"cfg.yaml: profiles[0].{line}"]


# -- samples --


def test_the_sticky_vm_sample_runs_with_a_warning_about_its_misspelt_plugin() -> None:
    sticky = plugin("StickyVM", "pre_filter", "filter", "post_bind")
    fit, ports = plugin("NodeResourcesFit", "pre_filter", "filter"), plugin("NodePorts", "pre_filter", "filter")
    defaults = [*DEFAULTS, DefaultPlugin("NodeResourcesFit"), DefaultPlugin("NodePorts")]
    read, _ = from_file("stickyvm-v1.yaml")
    profiles, warnings = build_profiles(read, registry(sticky, fit, ports), defaults)
    profile = profiles["stickyvm"]
    assert names(profile, "pre_filter") == "Fit Volume NodeResourcesFit NodePorts StickyVM"
    assert names(profile, "filter") == "Taint Fit Volume NodeResourcesFit StickyVM"
    assert (names(profile, "reserve"), names(profile, "pre_bind"), names(profile, "post_bind")) == ("", "", "StickyVM")
    assert warnings == [
        "stickyvm-v1.yaml: profiles[0].plugins.preFilter.disabled[0].name: "
        'there is no plugin "NodeResourceFit" to disable; did you mean "NodeResourcesFit"?'
    ]


def test_the_kosmos_sample_swaps_its_own_plugins_in() -> None:
    own = [
        plugin("LeafNodeVolumeBinding", "pre_filter", "filter", "reserve", "pre_bind", accepts_any_args=True),
        plugin("LeafNodeWorkloadPolicy", "pre_filter", "filter", "score", "reserve", accepts_any_args=True),
        plugin("LeafNodeTaintToleration", "filter"),
        plugin("LeafNodeDistribution", "filter", accepts_any_args=True),
    ]
    upstream = [
        plugin("TaintToleration", "filter", "pre_score", "score"),
        plugin("VolumeBinding", "pre_filter", "filter", "pre_score", "score", "reserve", "pre_bind"),
    ]
    defaults = [DefaultPlugin(name) for name in ("Sort", "TaintToleration", "Fit", "VolumeBinding", "Binder")]
    read, _ = from_file("kosmos-v1beta1.yaml")
    profiles, warnings = build_profiles(read, registry(*own, *upstream), defaults)
    profile = profiles["kosmos-scheduler"]
    assert warnings == []
    assert names(profile, "pre_filter") == "Fit LeafNodeVolumeBinding LeafNodeWorkloadPolicy"
    assert names(profile, "filter") == (
        "Fit LeafNodeTaintToleration LeafNodeVolumeBinding LeafNodeDistribution LeafNodeWorkloadPolicy"
    )
    assert names(profile, "pre_score") == "TaintToleration Fit"
    assert names(profile, "score") == "TaintToleration Fit LeafNodeWorkloadPolicy"
    assert names(profile, "reserve") == "LeafNodeVolumeBinding LeafNodeWorkloadPolicy"
    assert names(profile, "pre_bind") == "LeafNodeVolumeBinding"


def test_two_profiles_of_one_scheduler() -> None:
    read, _ = from_file("two-profiles-v1.yaml")
    profiles, _ = build_profiles(read, registry(), DEFAULTS)
    assert names(profiles["default-scheduler"], "score") == "Taint Fit"
    assert names(profiles["no-scoring-scheduler"], "score") == ""
    assert names(profiles["no-scoring-scheduler"], "filter") == "Taint Fit Volume"
