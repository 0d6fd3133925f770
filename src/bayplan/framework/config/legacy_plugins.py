"""
Plugins that versions before v1 had, in terms of those there are now.

``config.load_config`` calls ``converted`` on a configuration it has read and checked.  Before v1beta3 every
extension point had a default list of its own; now a plugin joins all its points at once.  So a plugin that an
old file takes off a point is also taken off the companion points it has gained since: no PreFilter without
its Filter.
"""

from __future__ import annotations

from typing import Any

from bayplan.framework.config.mistakes import Mistake, field_path
from bayplan.framework.config.model import (
    EVERY_PLUGIN,
    PluginConfig,
    PluginRef,
    Plugins,
    PluginSet,
    ProfileConfig,
    SchedulerConfig,
    in_file,
)
from bayplan.framework.config.validation import REMOVED_PLUGINS

_BEFORE_MULTI_POINT = ("v1beta2", "v1beta1", "v1alpha2", "v1alpha1")
_BEFORE_STRATEGIES = ("v1beta1", "v1alpha2", "v1alpha1")

_GONE = dict.fromkeys(sorted(REMOVED_PLUGINS), "NodeVolumeLimits counts all volumes now") | {
    "NodePreferAvoidPods": "keep pods away from a node with a taint, or with a preferred node affinity",
}
_NO_SUCCESSOR = {
    "NodeLabel": "set addedAffinity in the args of NodeAffinity",
    "ServiceAffinity": "give the pods an inter-pod affinity",
}
_SPREADING = ("SelectorSpread", "DefaultPodTopologySpread")
_STRATEGIES = {
    "NodeResourcesLeastAllocated": "LeastAllocated",
    "NodeResourcesMostAllocated": "MostAllocated",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio",
}
_GAINED = (
    # plugin, the point it has gained, the point that decides whether it is wanted there
    ("VolumeRestrictions", "pre_filter", "filter"),
    ("NodeVolumeLimits", "pre_filter", "filter"),
    ("VolumeZone", "pre_filter", "filter"),
    ("VolumeBinding", "pre_score", "filter"),
    ("VolumeBinding", "score", "filter"),
    ("NodeResourcesFit", "pre_score", "score"),
    ("NodeResourcesBalancedAllocation", "pre_score", "score"),
    ("DefaultPreemption", "pre_enqueue", "post_filter"),
)


def converted(config: SchedulerConfig, version: str) -> tuple[SchedulerConfig, list[Mistake], list[Mistake]]:
    """The configuration with today's plugins, then warnings, then mistakes that only the user can correct."""
    drafts = [_Draft(profile, field_path("profiles", index)) for index, profile in enumerate(config.profiles)]
    for draft in drafts:
        _drop_gone(draft)
        _spread(draft)
        _score_resources(draft, version)
        if version in _BEFORE_STRATEGIES:
            _spread_by_list(draft)
        if version in _BEFORE_MULTI_POINT:
            _leave_gained_points(draft)
    profiles = tuple(draft.finished() for draft in drafts)
    warnings = [warning for draft in drafts for warning in draft.warnings]
    mistakes = [mistake for draft in drafts for mistake in draft.mistakes]
    return config.model_copy(update={"profiles": profiles}), warnings, mistakes


class _Draft:
    """A profile while it is rewritten."""

    def __init__(self, profile: ProfileConfig, path: str) -> None:
        self.profile = profile
        self.path = path
        self.enabled = {point: list(plugins.enabled) for point, plugins in profile.plugins.sets().items()}
        self.disabled = {point: list(plugins.disabled) for point, plugins in profile.plugins.sets().items()}
        self.args: dict[str, Any] = {config.name: config.args for config in profile.plugin_config}
        self.warnings: list[Mistake] = []
        self.mistakes: list[Mistake] = []

    def finished(self) -> ProfileConfig:
        sets = {
            point: PluginSet(enabled=tuple(self.enabled[point]), disabled=tuple(self.disabled[point]))
            for point in self.enabled
        }
        configs = tuple(PluginConfig(name=name, args=args) for name, args in self.args.items())
        return self.profile.model_copy(update={"plugins": Plugins(**sets), "plugin_config": configs})

    def warn(self, name: str, text: str) -> None:
        """Say it once, where the plugin first stands."""
        self.warnings.append(Mistake(self.place_of(name), text))

    def place_of(self, name: str) -> str:
        for point, plugins in self.profile.plugins.sets().items():
            for field, refs in (("enabled", plugins.enabled), ("disabled", plugins.disabled)):
                for index, ref in enumerate(refs):
                    if ref.name == name:
                        return field_path(self.path, "plugins", in_file(point), field, index)
        names = [config.name for config in self.profile.plugin_config]
        return field_path(self.path, "pluginConfig", names.index(name)) if name in names else self.path

    def mentions(self, name: str) -> bool:
        return name in self.args or any(
            ref.name == name for refs in (*self.enabled.values(), *self.disabled.values()) for ref in refs
        )

    def take_enabled(self, name: str) -> PluginRef | None:
        """Take a plugin out of all enabled lists; its entry at score, or wherever it was."""
        taken = {point: _take(refs, name) for point, refs in self.enabled.items()}
        found = [ref for ref in (taken["score"], *taken.values()) if ref is not None]
        return found[0] if found else None

    def take_disabled(self, name: str) -> bool:
        """Take a plugin out of all disabled lists; was it in one?"""
        taken = [_take(refs, name) for refs in self.disabled.values()]
        return any(ref is not None for ref in taken)

    def enable(self, point: str, name: str, weight: int | None = None) -> None:
        _take(self.enabled[point], name)
        self.enabled[point].append(PluginRef(name=name, weight=weight))

    def is_enabled(self, point: str, name: str) -> bool:
        return any(ref.name == name for ref in self.enabled[point])

    def is_off(self, point: str, name: str) -> bool:
        """Taken off the point, and not put back."""
        disabled = any(ref.name in (name, EVERY_PLUGIN) for ref in self.disabled[point])
        return disabled and not self.is_enabled(point, name)


def _take(refs: list[PluginRef], name: str) -> PluginRef | None:
    found = next((ref for ref in refs if ref.name == name), None)
    if found is not None:
        refs.remove(found)
    return found


def _drop_gone(draft: _Draft) -> None:
    for name, instead in (_GONE | _NO_SUCCESSOR).items():
        if not draft.mentions(name):
            continue
        was_enabled = draft.take_enabled(name) is not None
        draft.take_disabled(name)
        draft.args.pop(name, None)
        if was_enabled and name in _NO_SUCCESSOR:
            draft.mistakes.append(Mistake(draft.place_of(name), f'plugin "{name}" has gone; {instead}'))
        else:
            draft.warn(name, f"{name} has gone and is ignored; {instead}")


def _spread(draft: _Draft) -> None:
    """What SelectorSpread did is part of PodTopologySpread, which does it unless told otherwise."""
    for name in _SPREADING:
        if not draft.mentions(name):
            continue
        enabled = draft.take_enabled(name)
        was_disabled = draft.take_disabled(name)
        draft.args.pop(name, None)
        if enabled is not None:
            draft.warn(name, f"{name} is read as the default spreading of PodTopologySpread")
            if draft.is_off("score", "PodTopologySpread"):
                draft.enable("pre_score", "PodTopologySpread")
                draft.enable("score", "PodTopologySpread", enabled.weight)
        elif was_disabled:
            draft.args.setdefault("PodTopologySpread", {"defaultingType": "List"})
            draft.warn(name, f"{name} is off, so PodTopologySpread spreads only pods that ask for it")


def _score_resources(draft: _Draft, version: str) -> None:
    """Three score plugins became strategies of NodeResourcesFit, which has one at a time."""
    mentioned = [name for name in _STRATEGIES if draft.mentions(name)]
    was_by_default = "NodeResourcesLeastAllocated" if version in _BEFORE_STRATEGIES else ""
    least_is_off = draft.is_off("score", was_by_default)
    enabled = {name: ref for name in mentioned if (ref := draft.take_enabled(name)) is not None}
    args = {name: draft.args.pop(name, None) or {} for name in mentioned}
    for name in mentioned:
        draft.take_disabled(name)
        what = f"the strategy {_STRATEGIES[name]} of NodeResourcesFit" if name in enabled else "NodeResourcesFit"
        draft.warn(name, f"{name} is read as {what}")
    chosen = list(enabled)[-1] if enabled else was_by_default
    if chosen in enabled:
        draft.enable("score", "NodeResourcesFit", enabled[chosen].weight)
        others = len(enabled) > 1 or (was_by_default not in ("", chosen) and not least_is_off)
        if others:
            draft.warn(chosen, f"NodeResourcesFit has one strategy at a time; {_STRATEGIES[chosen]} is used")
    elif least_is_off and was_by_default in mentioned:
        draft.disabled["score"].append(PluginRef(name="NodeResourcesFit"))
    if chosen in mentioned:
        _set_strategy(draft, _STRATEGIES[chosen], args[chosen])


def _set_strategy(draft: _Draft, strategy: str, old: Any) -> None:
    known = draft.args.get("NodeResourcesFit") or {}
    if not isinstance(known, dict) or not isinstance(old, dict) or "scoringStrategy" in known:
        return
    setting: dict[str, Any] = {"type": strategy}
    if "resources" in old:
        setting["resources"] = old["resources"]
    if "shape" in old:
        setting["requestedToCapacityRatio"] = {"shape": old["shape"]}
    draft.args["NodeResourcesFit"] = {**known, "scoringStrategy": setting}


def _spread_by_list(draft: _Draft) -> None:
    """Constraints without a defaulting type meant that these constraints are the default."""
    args = draft.args.get("PodTopologySpread")
    if isinstance(args, dict) and args.get("defaultConstraints") and not args.get("defaultingType"):
        draft.args["PodTopologySpread"] = {**args, "defaultingType": "List"}


def _leave_gained_points(draft: _Draft) -> None:
    for name, gained, companion in _GAINED:
        if draft.is_off(companion, name) and not (draft.is_enabled(gained, name) or draft.is_off(gained, name)):
            draft.disabled[gained].append(PluginRef(name=name))
