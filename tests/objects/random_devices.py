"""Random claims, templates, slices, classes and taint rules, most of them right, some with one mistake.

`random_objects` has them among its kinds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.objects.random_specs import Spec, SpecMaker

LONG = "x" * 64
NOT_LABELS = ["A B!", "a.b", LONG, "", "-a"]
NOT_NAMES = ["A B!", "", "-a", "a_b", "a..b", "x" * 254]
DRIVERS, NOT_DRIVERS = ["gpu.example.com", "Nic.Example.com"], ["", "A B!", LONG, "a_b"]
POOLS, NOT_POOLS = ["n1", "rack-1/n1"], ["", "A B!", "/a", "a//b", "x" * 254]
ATTRIBUTES = ["model", "_x", "example.com/model", "a/b/c"]
NOT_ATTRIBUTES = ["a-b", "1a", "", "/a", "example.com/", "a b/model", "x" * 33]
EXPRESSIONS = [
    "true",
    'device.driver == "gpu.example.com"',
    'device.attributes["gpu.example.com"].cores > 4',
    'device.capacity["gpu.example.com"].memory.compareTo(quantity("10Gi")) >= 0',
    'device.attributes["gpu.example.com"].version.isGreaterThan(semver("1.2.3"))',
    "device.allowMultipleAllocations",
]
NOT_EXPRESSIONS = ["", "devic.driver", "device.driver", "device.driver ==", "1 + 1", "x" * 10241, "device.nothing == 1"]
AMOUNTS, NOT_AMOUNTS = ["1Gi", "10", "1500m", 5], ["x", "1 Gi", "10B"]
VERSIONS, NOT_VERSIONS = ["1.2.3", "0.0.1-rc.1+b.5"], ["1.2", "v1.2.3", "1.02.3", "1.2.3-", "x", "1.2.3-" + "a" * 64]


def toleration(maker: SpecMaker) -> Spec:
    operator = maker.pick(["Exists", "Equal", None], ["", "exists", "Gt"])
    made: Spec = {} if operator is None else {"operator": operator}
    if maker.maybe(0.7):
        made["key"] = maker.pick(["a", "example.com/a", ""], ["a b"])
    if operator != "Exists" or maker.maybe(maker.mistakes):
        made["value"] = maker.pick(["a", ""], ["a b"])
    if maker.maybe(0.5):
        made["effect"] = maker.pick(["NoSchedule", "NoExecute", "None"], ["PreferNoSchedule", "x"])
    if maker.maybe(0.2):
        made["tolerationSeconds"] = maker.random.choice([0, 5, -1])
    return made


def selectors(maker: SpecMaker) -> list[Spec]:
    made: list[Spec] = [
        {"cel": {"expression": maker.pick(EXPRESSIONS, NOT_EXPRESSIONS)}} for _ in range(maker.random.randint(0, 2))
    ]
    if maker.maybe(maker.mistakes):
        made += maker.random.choice([[{}], [{"cel": {"expression": "true"}}] * 33])
    return made


def requirements(maker: SpecMaker) -> Spec:
    made: Spec = {"deviceClassName": maker.pick(["gpu", "gpu.example.com"], NOT_NAMES), "selectors": selectors(maker)}
    mode = maker.pick(["ExactCount", "All", None], ["Some", "all"])
    if mode is not None:
        made["allocationMode"] = mode
    if mode != "All" or maker.maybe(maker.mistakes):
        made["count"] = maker.pick([1, 2, 0, 100], [-1])
    if maker.maybe(0.3):
        made["tolerations"] = [toleration(maker) for _ in range(maker.random.randint(1, 2))]
    if maker.maybe(0.3):
        made["capacity"] = {"requests": {maker.random.choice(ATTRIBUTES[:3]): maker.pick(AMOUNTS, NOT_AMOUNTS)}}
    return made


def request(maker: SpecMaker, name: str) -> Spec:
    made: Spec = {"name": maker.pick([name], NOT_LABELS)}
    kind = maker.pick(["exactly", "firstAvailable"], ["both", "neither"])
    if kind in ("exactly", "both"):
        made["exactly"] = requirements(maker)
        if maker.maybe(maker.mistakes):
            made["exactly"]["adminAccess"] = True
        elif maker.maybe(0.1):
            made["exactly"]["adminAccess"] = False
    if kind in ("firstAvailable", "both"):
        made["firstAvailable"] = [
            {"name": maker.pick([f"s{number}"], [*NOT_LABELS, "s0"]), **requirements(maker)}
            for number in range(maker.pick([1, 2, 8], [9]))
        ]
    return made


def reference(maker: SpecMaker, requests: list[Spec]) -> list[str]:
    known = [each["name"] for each in requests]
    parts = [f"{each['name']}/{part['name']}" for each in requests for part in each.get("firstAvailable", ())]
    first = maker.pick(known + parts, ["nobody", "r0/nobody", "r0/s0/x", "", "A B!"])
    return [first] * maker.pick([1], [2])


def config(maker: SpecMaker) -> Spec:
    parameters = maker.pick([{}, {"a": [1]}], [None, [], "a", {"a": "x" * 10240}])
    made: Spec = {"opaque": {"driver": maker.pick(DRIVERS, NOT_DRIVERS), "parameters": parameters}}
    return {} if maker.maybe(maker.mistakes) else made


def constraint(maker: SpecMaker, requests: list[Spec]) -> Spec:
    made: Spec = {}
    if maker.maybe(0.7):
        made["requests"] = reference(maker, requests)
    kind = maker.pick(["matchAttribute", "distinctAttribute"], [""])
    if kind:
        made[kind] = maker.pick(["example.com/model", "a/b/c"], ["model", "/a", "example.com/", "a b/c", "a/b-c", ""])
    return made


def claim_spec(maker: SpecMaker) -> Spec:
    names = [f"r{number}" for number in range(maker.random.randint(1, 3))]
    requests = [request(maker, name) for name in names]
    if maker.maybe(maker.mistakes):
        requests.append(maker.random.choice([requests[0], *[request(maker, f"m{n}") for n in range(3)]]))
    devices: Spec = {"requests": requests}
    if maker.maybe(0.4):
        devices["constraints"] = [constraint(maker, requests)] * maker.pick([1, 2], [33])
    if maker.maybe(0.3):
        devices["config"] = [config(maker) | ({"requests": reference(maker, requests)} if maker.maybe(0.5) else {})]
    return {"devices": devices}


def template(maker: SpecMaker) -> Spec:
    made: Spec = {"spec": claim_spec(maker)}
    if maker.maybe(0.4):
        made["metadata"] = {
            "labels": {maker.pick(["app"], ["a b"]): maker.pick(["a"], ["a b"])},
            "annotations": {maker.pick(["A/a", "app"], ["a b", "/x"]): "any thing"},
        }
    return {"spec": made}


def device_class(maker: SpecMaker) -> Spec:
    spec: Spec = {"selectors": selectors(maker)}
    if maker.maybe(0.4):
        spec["config"] = [config(maker)]
    if maker.maybe(0.4):
        right = ["example.com/gpu", "a.b/C_d"]
        wrong = ["gpu", "kubernetes.io/gpu", "requests.example.com/gpu", "a b/c", "", "example.com/"]
        spec["extendedResourceName"] = maker.pick(right, wrong)
    return {"spec": spec}


def taint(maker: SpecMaker) -> Spec:
    made: Spec = {
        "key": maker.pick(["a", "example.com/a"], ["", "a b"]),
        "effect": maker.pick(["NoSchedule", "NoExecute", "None"], ["", "PreferNoSchedule"]),
    }
    if maker.maybe(0.5):
        made["value"] = maker.pick(["", "a"], ["a b"])
    if maker.maybe(0.3):
        made["timeAdded"] = maker.pick(["2026-01-01T00:00:00Z"], ["now"])
    return made


def taint_rule(maker: SpecMaker) -> Spec:
    spec: Spec = {"taint": taint(maker)}
    if maker.maybe(0.8):
        parts = {
            "driver": maker.pick(DRIVERS, NOT_DRIVERS),
            "pool": maker.pick(POOLS, NOT_POOLS),
            "device": maker.pick(["gpu-0"], NOT_LABELS),
        }
        spec["deviceSelector"] = {name: value for name, value in parts.items() if maker.maybe(0.5)}
    return {"spec": spec}


def attribute(maker: SpecMaker) -> Spec:
    kinds: list[Spec] = [
        {"int": maker.pick([0, -5, 2**62], ["x"])},
        {"bool": maker.random.choice([True, False])},
        {"string": maker.pick(["", "a b", LONG], [LONG + "x", 5])},
        {"version": maker.pick(VERSIONS, NOT_VERSIONS)},
    ]
    made: Spec = maker.random.choice(kinds)
    if maker.maybe(maker.mistakes):
        made = maker.random.choice([{}, {"int": 1, "bool": True}])
    return made


def capacity(maker: SpecMaker, is_shared: bool) -> Spec:
    made: Spec = {"value": maker.pick(["10", "10Gi"], NOT_AMOUNTS)}
    if (is_shared and maker.maybe(0.6)) or maker.maybe(maker.mistakes):
        policy: Spec = {"default": maker.pick(["4"], ["3", "100Gi", None, "x"])}
        kind = maker.pick(["values", "range", "none"], ["both"])
        if kind in ("values", "both"):
            wrong = [["8", "4"], ["4", "4"], ["4", "100Gi"], ["5"], [str(n) for n in range(1, 12)], ["4", "x"]]
            policy["validValues"] = maker.pick([["4"], ["2", "4", "8"]], wrong)
        if kind in ("range", "both"):
            limits = {"min": maker.pick(["2", "4"], ["5", "100Gi", None])}
            if maker.maybe(0.6):
                limits["max"] = maker.pick(["8", "10"], ["1", "3", "100Gi", "9"])
            if maker.maybe(0.6):
                limits["step"] = maker.pick(["1", "2"], ["3", "100Gi"])
            policy["validRange"] = {name: value for name, value in limits.items() if value is not None}
        made["requestPolicy"] = {name: value for name, value in policy.items() if value is not None}
    return made


def counters(maker: SpecMaker) -> Spec:
    wrong: list[Any] = [{}, {"A B": {"value": "1"}}, {"a": {"value": "x"}}, {f"c{n}": {"value": 1} for n in range(33)}]
    return {"counters": maker.pick([{"memory": {"value": "10Gi"}}, {"a": {"value": 1}, "b": {"value": "2"}}], wrong)}


def node_choice(maker: SpecMaker, *, one_term: bool) -> Spec:
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": maker.pick([["a"]], [[]])}]}
    terms = [term] * maker.pick([1] if one_term else [1, 2], [0, 2] if one_term else [0])
    kinds: list[Spec] = [
        {"nodeName": maker.pick(["n1"], ["", "A B!"])},
        {"nodeSelector": {"nodeSelectorTerms": terms}},
        {"allNodes": maker.pick([True], [False])},
    ]
    made: Spec = maker.random.choice(kinds)
    if maker.maybe(maker.mistakes):
        made = maker.random.choice([{}, {"nodeName": "n1", "allNodes": True}])
    return made


def device(maker: SpecMaker, name: str, chooses_nodes: bool) -> Spec:
    is_shared = maker.maybe(0.3)
    made: Spec = {"name": maker.pick([name], [*NOT_LABELS, "d0"])}
    if maker.maybe(0.7):
        names = {maker.pick(ATTRIBUTES, NOT_ATTRIBUTES) for _ in range(maker.random.randint(1, 3))}
        made["attributes"] = {each: attribute(maker) for each in sorted(names)}
        if maker.maybe(maker.mistakes):
            made["attributes"] |= {f"a{number}": {"int": number} for number in range(33)}
    if maker.maybe(0.5):
        made["capacity"] = {maker.pick(["memory", "example.com/x"], NOT_ATTRIBUTES): capacity(maker, is_shared)}
    if is_shared:
        made["allowMultipleAllocations"] = True
    if maker.maybe(0.3):
        made["taints"] = [taint(maker)] * maker.pick([1], [2, 17])
    if maker.maybe(0.3):
        sets = [{"counterSet": maker.pick(["c"], NOT_LABELS), **counters(maker)}]
        made["consumesCounters"] = sets * maker.pick([1], [2, 3])
    if maker.maybe(0.2):
        ready, failed = maker.pick([(["a"], ["b"]), (["a/x", "c"], ["b"])], [(["a"], ["a"]), (["a"], []), ([], ["b"]), (["a", "a"], ["b"]), (["a b"], ["b"]), ([f"c{n}" for n in range(5)], ["b"])])  # fmt: skip
        made |= {"bindingConditions": ready, "bindingFailureConditions": failed, "bindsToNode": True}
    if chooses_nodes or maker.maybe(maker.mistakes):
        made |= node_choice(maker, one_term=False)
    return made


def resource_slice(maker: SpecMaker) -> Spec:
    chooses = maker.maybe(0.3)
    spec: Spec = {
        "driver": maker.pick(DRIVERS, NOT_DRIVERS),
        "pool": {
            "name": maker.pick(POOLS, NOT_POOLS),
            "generation": maker.pick([0, 1], [-1]),
            "resourceSliceCount": maker.pick([1, 3], [0, -1]),
        },
    }
    spec |= {"perDeviceNodeSelection": maker.pick([True], [False])} if chooses else node_choice(maker, one_term=True)
    kind = maker.pick(["devices", "devices", "counters"], ["both"])
    if kind != "counters":
        count = maker.pick([0, 1, 2, 2, 2, 64], [129])
        spec["devices"] = [device(maker, f"d{number}", chooses) for number in range(min(count, 3))]
        if count > 3 and spec["devices"]:
            plain = {"name": "d0"} | ({"allNodes": True} if chooses else {})
            spec["devices"] = [plain | {"name": f"d{number}"} for number in range(count)]
            if maker.maybe(0.5):
                spec["devices"] += [plain | {"name": "last", "taints": [taint(maker)]}] if maker.mistakes else []
    if kind != "devices":
        sets = [{"name": maker.pick(["c"], NOT_LABELS), **counters(maker)}]
        spec["sharedCounters"] = sets * maker.pick([1], [2, 9])
    return {"spec": spec}


MAKERS: dict[str, tuple[str, Callable[[SpecMaker], Spec]]] = {
    "ResourceClaim": ("resource.k8s.io/v1", lambda maker: {"spec": claim_spec(maker)}),
    "ResourceClaimTemplate": ("resource.k8s.io/v1", template),
    "ResourceSlice": ("resource.k8s.io/v1", resource_slice),
    "DeviceClass": ("resource.k8s.io/v1", device_class),
    "DeviceTaintRule": ("resource.k8s.io/v1beta2", taint_rule),
}
