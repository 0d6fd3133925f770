"""Random pod specs, most of them right, some with one mistake; used against a real API server."""

from __future__ import annotations

from random import Random
from typing import Any

KEYS = ["app", "tier", "example.com/team", "topology.kubernetes.io/zone"]
VALUES = ["a", "b", "1", ""]
Spec = dict[str, Any]


class SpecMaker:
    """Makes specs from a seed; `mistakes` is the chance that a part is made wrong."""

    def __init__(self, seed: int, mistakes: float = 0.0) -> None:
        self.random = Random(seed)
        self.mistakes = mistakes

    def pick(self, right: list[Any], wrong: list[Any]) -> Any:
        return self.random.choice(wrong if wrong and self.random.random() < self.mistakes else right)

    def maybe(self, chance: float) -> bool:
        return self.random.random() < chance

    def some(self, make: Any, most: int = 2) -> list[Any]:
        return [make() for _ in range(self.random.randint(0, most))]

    def labels(self) -> dict[str, str]:
        return {key: self.random.choice(VALUES) for key in KEYS if self.maybe(0.6)}

    def spec(self) -> Spec:
        made: Spec = {
            "containers": [self.container(f"c{number}") for number in range(self.random.randint(1, 2))],
            "initContainers": [self.init_container(f"i{number}") for number in range(self.random.randint(0, 2))],
            "tolerations": self.some(self.toleration),
            "topologySpreadConstraints": self.some(self.spread),
            "nodeSelector": {self.key(): self.value() for _ in range(self.random.randint(0, 1))},
        }
        if self.maybe(0.5):
            made["affinity"] = self.affinity()
        if self.maybe(0.3):
            made["hostNetwork"] = True
        if self.maybe(0.4):
            made["priorityClassName"] = self.pick(["high", "quiet", "system-node-critical"], ["unknown"])
        if self.maybe(0.3):
            made["resources"] = self.pod_resources()
        return made

    def container(self, name: str) -> Spec:
        made: Spec = {"name": name, "image": self.random.choice(["web", "web:1"]), "resources": self.resources()}
        if self.maybe(0.5):
            made["ports"] = [self.port()]
        return made

    def init_container(self, name: str) -> Spec:
        made = self.container(name)
        if self.maybe(0.5):
            made["restartPolicy"] = "Always"
        return made

    def port(self) -> Spec:
        made: Spec = {"containerPort": self.random.randint(1, 60000)}
        if self.maybe(0.2):
            made["protocol"] = self.pick(["TCP", "UDP", "SCTP"], ["tcp"])
        return made

    def resources(self) -> Spec:
        requests = {name: self.amount(name) for name in ("cpu", "memory") if self.maybe(0.5)}
        limits = {name: self.limit(name) for name in ("cpu", "memory", "ephemeral-storage") if self.maybe(0.4)}
        if self.maybe(0.2):
            count = self.random.randint(0, 3)
            limits["example.com/gpu"] = self.pick([count], ["500m"])
            if self.maybe(0.5):
                requests["example.com/gpu"] = self.pick([count], [count + 1])
        if self.maybe(0.1):
            requests[self.pick(["ephemeral-storage"], ["gpu"])] = "1"
        return {"requests": requests, "limits": limits}

    def amount(self, name: str) -> Any:
        right = {"cpu": ["100m", "0.5", 1, "1500m", "0"], "memory": ["64Mi", "1M", 1000, "0.5Gi", "1e3"]}[name]
        return self.pick(right, ["1 Gi", "-1", "abc", "1GB", "900Gi"])

    def limit(self, name: str) -> Any:
        return {"cpu": "2", "memory": "2Gi", "ephemeral-storage": "3Gi"}[name]

    def pod_resources(self) -> Spec:
        made: Spec = {"limits": {"cpu": "20", "memory": "40Gi"}}
        if self.maybe(0.4):
            made["requests"] = self.pick([{"cpu": "15"}, {"memory": "35Gi"}], [{"cpu": "1m"}, {"cpu": "25"}])
        return made

    def key(self) -> str:
        return str(self.pick(KEYS, ["a b", "-x", "/x", "x" * 64]))

    def value(self) -> str:
        return str(self.pick(VALUES, ["a b", "x" * 64, "-"]))

    def expression(self, numbers: bool, strict: bool = True) -> Spec:
        operators = ["In", "NotIn", "Exists", "DoesNotExist"] + (["Gt", "Lt"] if numbers else [])
        operator = self.pick(operators, ["Is", ""])
        made: Spec = {"key": self.key(), "operator": operator}
        if operator in ("In", "NotIn"):
            values = [self.value() if strict else self.random.choice(VALUES) for _ in range(self.random.randint(1, 2))]
            made["values"] = self.pick([values], [[]])
        elif operator in ("Gt", "Lt"):
            made["values"] = self.pick([["5"]], [["5", "6"], []])
        elif operator in ("Exists", "DoesNotExist"):
            made["values"] = self.pick([[]], [["x"]])
        return made

    def selector(self) -> Spec:
        return {
            "matchLabels": {self.key(): self.value() for _ in range(self.random.randint(0, 2))},
            "matchExpressions": self.some(lambda: self.expression(False), 1),
        }

    def node_term(self, strict: bool = True) -> Spec:
        made: Spec = {"matchExpressions": [self.expression(True, strict)]}
        if self.maybe(0.3):
            made["matchFields"] = [
                {
                    "key": self.pick(["metadata.name"], ["metadata.uid"]),
                    "operator": self.pick(["In", "NotIn"], ["Gt", "Exists"]),
                    "values": self.pick([["n1"]], [["n1", "n2"], []]),
                }
            ]
        return made

    def pod_term(self) -> Spec:
        made: Spec = {"topologyKey": self.pick(["zone", "kubernetes.io/hostname"], ["", "a b"])}
        if self.maybe(0.9):
            made["labelSelector"] = {"matchExpressions": self.some(lambda: self.expression(False), 1)}
            taken = {each["key"] for each in made["labelSelector"]["matchExpressions"]}
            free = [key for key in KEYS if key not in taken]
            if self.maybe(0.4):
                made["matchLabelKeys"] = free[:1]
            if self.maybe(0.3):
                made["mismatchLabelKeys"] = self.pick([free[1:2]], [free[:1]])
        elif self.maybe(self.mistakes):
            made["matchLabelKeys"] = ["app"]
        if self.maybe(0.3):
            made["namespaceSelector"] = self.selector()
        if self.maybe(0.3):
            made["namespaces"] = ["default", "other"]
        return made

    def weight(self) -> int:
        return int(self.pick([1, 50, 100], [0, 101, -1]))

    def pod_affinity(self) -> Spec:
        return {
            "requiredDuringSchedulingIgnoredDuringExecution": self.some(self.pod_term),
            "preferredDuringSchedulingIgnoredDuringExecution": self.some(
                lambda: {"weight": self.weight(), "podAffinityTerm": self.pod_term()}
            ),
        }

    def affinity(self) -> Spec:
        made: Spec = {}
        if self.maybe(0.6):
            terms = [self.node_term() for _ in range(self.pick([1, 2], [0]))]
            made["nodeAffinity"] = {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms},
                "preferredDuringSchedulingIgnoredDuringExecution": self.some(
                    lambda: {"weight": self.weight(), "preference": self.node_term(strict=False)}
                ),
            }
        if self.maybe(0.5):
            made["podAffinity"] = self.pod_affinity()
        if self.maybe(0.5):
            made["podAntiAffinity"] = self.pod_affinity()
        return made

    def spread(self) -> Spec:
        number = self.random.randint(0, 10**6)
        made: Spec = {
            "maxSkew": self.pick([1, 3], [0, -1]),
            "topologyKey": self.pick([f"zone-{number}"], ["", "zone"]),
            "whenUnsatisfiable": self.pick(["DoNotSchedule", "ScheduleAnyway"], ["Refuse", ""]),
            "labelSelector": {"matchLabels": {"app": self.value()}},
        }
        if made["whenUnsatisfiable"] == "DoNotSchedule" and self.maybe(0.3):
            made["minDomains"] = self.pick([1, 3], [0])
        if self.maybe(0.3):
            made["matchLabelKeys"] = ["tier", "missing"]
        if self.maybe(0.3):
            made["nodeTaintsPolicy"] = self.pick(["Honor", "Ignore"], ["honor"])
        if self.maybe(0.3):
            made["nodeAffinityPolicy"] = self.pick(["Honor", "Ignore"], ["Never"])
        return made

    def toleration(self) -> Spec:
        operator = self.pick(["Exists", "Equal", ""], ["Like", "Gt"])
        made: Spec = {"operator": operator}
        if operator != "Exists" or self.maybe(0.5):
            made["key"] = self.pick(["dedicated", "node.kubernetes.io/not-ready"], ["", "a b"])
        if operator == "Exists":
            made["value"] = self.pick([""], ["x"])
        else:
            made["value"] = self.value()
        if self.maybe(0.5):
            made["effect"] = self.pick(["NoSchedule", "NoExecute", "PreferNoSchedule"], ["Never"])
        if (made.get("effect") == "NoExecute" and self.maybe(0.5)) or self.maybe(self.mistakes / 2):
            made["tolerationSeconds"] = 5
        return made
