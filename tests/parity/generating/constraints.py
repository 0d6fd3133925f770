"""Which nodes a pod may or would like to run on: tolerations, node affinity, spreading, other pods, host ports."""

from __future__ import annotations

from random import Random

from tests.parity.generating.cluster import Object, World, chance, some
from tests.parity.generating.nodes import EFFECTS, HOSTNAME, RACKS, REGION, TAINT_KEYS, TAINT_VALUES, ZONE, ZONES
from tests.parity.generating.policies import APPS, NAMESPACES

TOPOLOGY_KEYS = [HOSTNAME, ZONE, ZONE, REGION, "rack", "disk"]
TIERS = ["front", "back"]


def add_tolerations(rng: Random, pod: Object, world: World) -> None:
    pod["spec"]["tolerations"] = [_make_toleration(rng) for _ in range(rng.randint(1, 3))]


def _make_toleration(rng: Random) -> Object:
    toleration: Object = {}
    if chance(rng, 0.1):
        toleration["operator"] = "Exists"
    elif chance(rng, 0.12):
        toleration |= {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}
    elif chance(rng, 0.4):
        toleration |= {"key": rng.choice(TAINT_KEYS), "operator": "Exists"}
    else:
        toleration |= {"key": rng.choice(TAINT_KEYS), "value": rng.choice(TAINT_VALUES)}
        if chance(rng, 0.5):
            toleration["operator"] = "Equal"
    if chance(rng, 0.6):
        toleration["effect"] = rng.choice(EFFECTS)
        if toleration["effect"] == "NoExecute" and chance(rng, 0.3):
            toleration["tolerationSeconds"] = 60
    return toleration


def add_node_selector(rng: Random, pod: Object, world: World) -> None:
    choices = [{"disk": "ssd"}, {"disk": "hdd"}, {ZONE: rng.choice(ZONES)}, {"gpu": ""}]
    pod["spec"]["nodeSelector"] = rng.choice([*choices, {"disk": "ssd", ZONE: "z2"}, {"disk": "tape"}])


def add_node_affinity(rng: Random, pod: Object, world: World) -> None:
    terms = [_make_node_term(rng, world) for _ in range(rng.choice([1, 1, 2, 3]))]
    if chance(rng, 0.15):
        # As the DaemonSet controller does it; two names at once cannot be met.
        names = [world.node_name(rng) for _ in range(rng.choice([1, 2]))]
        terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]}]
    affinity = pod["spec"].setdefault("affinity", {}).setdefault("nodeAffinity", {})
    affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}


def add_preferred_node_affinity(rng: Random, pod: Object, world: World) -> None:
    terms = [
        {"weight": rng.choice([1, 5, 10, 50, 100]), "preference": _make_node_term(rng, world)}
        for _ in range(rng.randint(1, 3))
    ]
    affinity = pod["spec"].setdefault("affinity", {}).setdefault("nodeAffinity", {})
    affinity["preferredDuringSchedulingIgnoredDuringExecution"] = terms


def _make_node_term(rng: Random, world: World) -> Object:
    if chance(rng, 0.04):
        return {}
    if chance(rng, 0.25):
        term: Object = {"matchFields": [_make_field(rng, world) for _ in range(rng.choice([1, 1, 1, 2]))]}
        if chance(rng, 0.3):
            term["matchExpressions"] = [_make_node_expression(rng)]
        return term
    return {"matchExpressions": [_make_node_expression(rng) for _ in range(rng.choice([1, 1, 2]))]}


def _make_field(rng: Random, world: World) -> Object:
    name = "gone" if chance(rng, 0.15) else world.node_name(rng)
    return {"key": "metadata.name", "operator": rng.choice(["In", "In", "NotIn"]), "values": [name]}


def _make_node_expression(rng: Random) -> Object:
    match rng.choice(["In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]):
        case "In" | "NotIn" as operator:
            key, values = rng.choice([(ZONE, ZONES), ("rack", RACKS), ("disk", ["ssd", "hdd"])])
            return {"key": key, "operator": operator, "values": some(rng, values, 1, 2)}
        case "Exists" | "DoesNotExist" as operator:
            return {"key": rng.choice(["gpu", ZONE, "rack"]), "operator": operator}
        case operator:
            return {"key": "gen", "operator": operator, "values": [rng.choice(["0", "2", "3", "5"])]}


def make_label_selector(rng: Random) -> Object:
    """A selector for pods; rarely one that selects everything."""
    match rng.choice(["labels", "labels", "labels", "expression", "both", "all"]):
        case "labels":
            return {"matchLabels": {"app": rng.choice(APPS)}}
        case "expression":
            return {"matchExpressions": [_make_pod_expression(rng)]}
        case "both":
            return {"matchLabels": {"app": rng.choice(APPS)}, "matchExpressions": [_make_pod_expression(rng)]}
    return {} if chance(rng, 0.5) else {"matchLabels": {"tier": rng.choice(TIERS)}}


def _make_pod_expression(rng: Random) -> Object:
    match rng.choice(["In", "In", "NotIn", "Exists", "DoesNotExist"]):
        case "In" | "NotIn" as operator:
            key, values = rng.choice([("app", APPS), ("tier", TIERS)])
            return {"key": key, "operator": operator, "values": some(rng, values, 1, 2)}
        case operator:
            return {"key": rng.choice(["tier", "version"]), "operator": operator}


def add_spread(rng: Random, pod: Object, world: World) -> None:
    constraints: dict[tuple[str, str], Object] = {}
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        constraint = _make_spread_constraint(rng, pod, world)
        constraints[constraint["topologyKey"], constraint["whenUnsatisfiable"]] = constraint
    pod["spec"]["topologySpreadConstraints"] = list(constraints.values())


def _make_spread_constraint(rng: Random, pod: Object, world: World) -> Object:
    constraint: Object = {
        "maxSkew": rng.choice([1, 1, 1, 2, 3]),
        "topologyKey": rng.choice(TOPOLOGY_KEYS),
        "whenUnsatisfiable": "DoNotSchedule" if chance(rng, world.style.hard_spread) else "ScheduleAnyway",
    }
    own = {"matchLabels": {"app": pod["metadata"].get("labels", {}).get("app", "web")}}
    if not chance(rng, 0.05):
        constraint["labelSelector"] = own if chance(rng, 0.65) else make_label_selector(rng)
        if chance(rng, 0.25) and "version" not in str(constraint["labelSelector"]):
            constraint["matchLabelKeys"] = ["version"]
    if constraint["whenUnsatisfiable"] == "DoNotSchedule" and chance(rng, 0.25):
        constraint["minDomains"] = rng.choice([1, 2, 3, 5])
    for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if chance(rng, 0.3):
            constraint[policy] = rng.choice(["Honor", "Ignore"])
    return constraint


def add_pod_affinity(rng: Random, pod: Object, world: World) -> None:
    _add_pod_terms(rng, pod, "podAffinity")


def add_pod_anti_affinity(rng: Random, pod: Object, world: World) -> None:
    _add_pod_terms(rng, pod, "podAntiAffinity")


def _add_pod_terms(rng: Random, pod: Object, kind: str) -> None:
    affinity = pod["spec"].setdefault("affinity", {}).setdefault(kind, {})
    which = rng.choice(["required", "preferred", "both"])
    if which != "preferred":
        terms = [_make_pod_term(rng, pod) for _ in range(rng.choice([1, 1, 2]))]
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = terms
    if which != "required":
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": rng.choice([1, 10, 50, 100]), "podAffinityTerm": _make_pod_term(rng, pod)}
            for _ in range(rng.randint(1, 2))
        ]


def _make_pod_term(rng: Random, pod: Object) -> Object:
    term: Object = {"topologyKey": rng.choice(TOPOLOGY_KEYS)}
    if not chance(rng, 0.04):
        own = {"matchLabels": {"app": pod["metadata"].get("labels", {}).get("app", "web")}}
        term["labelSelector"] = own if chance(rng, 0.3) else make_label_selector(rng)
        if chance(rng, 0.12) and "version" not in str(term["labelSelector"]):
            term[rng.choice(["matchLabelKeys", "mismatchLabelKeys"])] = ["version"]
    if chance(rng, 0.25):
        term["namespaces"] = some(rng, list(NAMESPACES), 1, 2)
    if chance(rng, 0.3):
        term["namespaceSelector"] = rng.choice(
            [
                {},
                {"matchLabels": {"team": "blue"}},
                {"matchLabels": {"env": "prod"}},
                {"matchExpressions": [{"key": "env", "operator": "DoesNotExist"}]},
                {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["red"]}]},
                {"matchLabels": {"team": "nobody"}},
            ]
        )
    return term


def add_host_ports(rng: Random, pod: Object, world: World) -> None:
    ports: dict[tuple[int, str, str], Object] = {}
    for _ in range(rng.choice([1, 1, 2])):
        number, protocol = rng.choice([8080, 8081]), rng.choice(["TCP", "TCP", "UDP", "SCTP"])
        address = rng.choice(["", "", "0.0.0.0", "127.0.0.1", "10.1.2.3", "::"])
        port: Object = {"containerPort": number, "hostPort": number}
        port |= {"protocol": protocol} if protocol != "TCP" or chance(rng, 0.5) else {}
        port |= {"hostIP": address} if address else {}
        ports[number, protocol, address] = port
    containers = pod["spec"].get("initContainers", []) if chance(rng, 0.2) else []
    rng.choice(containers or pod["spec"]["containers"])["ports"] = list(ports.values())
    if chance(rng, 0.15):
        pod["spec"]["hostNetwork"] = True
