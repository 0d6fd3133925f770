"""Which nodes are feasible, and for which of them preemption is worth a try."""

from __future__ import annotations

from tests.parity.scenarios.scenario import Scenario, about_app, namespace, node, pod, required_terms, spread

ZONE = "topology.kubernetes.io/zone"
SIDECAR = {"restartPolicy": "Always"}


def asking(name: str, cpu: str, **more: object) -> dict[str, object]:
    return {"name": name, "image": "app:1", "resources": {"requests": {"cpu": cpu}}} | more


def host_port(number: int, address: str = "", protocol: str = "TCP") -> dict[str, object]:
    port = {"containerPort": number, "hostPort": number, "protocol": protocol}
    ports = [port | ({"hostIP": address} if address else {})]
    return {"containers": [{"name": "main", "image": "app:1", "ports": ports}]}


SUMS = {
    "containers": [asking("a", "1"), asking("b", "1")],
    "initContainers": [asking("i1", "3"), asking("s", "1", **SIDECAR), asking("i2", "2")],
}
THREE_ZONES = tuple(node(f"n{index}", labels={ZONE: f"z{index}"}) for index in (1, 2, 3))

FILTERS: tuple[Scenario, ...] = (
    Scenario(
        "init-sum",
        "init containers and sidecars: the peak of 3 cpu fits exactly",
        pod("p", spec=SUMS),
        {"node": "n2", "feasible": ["n2"]},
        (node("n1", cpu="2999m"), node("n2", cpu="3")),
    ),
    Scenario(
        "init-sum-order",
        "an init container after a sidecar needs both at once",
        pod(
            "p",
            spec={
                "containers": [asking("a", "1")],
                "initContainers": [asking("s", "1", **SIDECAR), asking("i", "3")],
            },
        ),
        {"node": "n2", "feasible": ["n2"]},
        (node("n1", cpu="3999m"), node("n2", cpu="4")),
    ),
    Scenario(
        "pod-level-replaces",
        "requests of the pod as a whole replace the sum of its containers",
        pod("p", spec={"containers": [asking("a", "1")], "resources": {"requests": {"cpu": "2"}}}),
        {"node": "n2", "feasible": ["n2"]},
        (node("n1", cpu="1999m"), node("n2", cpu="2")),
    ),
    Scenario(
        "rounding-up",
        "a request of a thousandth of a milli cpu counts as one milli",
        pod("p", "1000001u"),
        {"node": "n2", "feasible": ["n2"]},
        (node("n1", cpu="1"), node("n2", cpu="1001m")),
    ),
    Scenario(
        "wildcard-port",
        "a wildcard host port conflicts with the same port on any address, not with another protocol",
        pod("p", spec=host_port(80)),
        {"feasible": ["n2", "n3"]},
        (node("n1"), node("n2"), node("n3")),
        (
            pod("b1", on="n1", spec=host_port(80, "10.0.0.1")),
            pod("b2", on="n2", spec=host_port(80, "", "UDP")),
            pod("b3", on="n3", spec=host_port(81)),
        ),
    ),
    Scenario(
        "ipv6-any-port",
        "the address :: is no wildcard",
        pod("p", spec=host_port(80, "::")),
        {"feasible": ["n1", "n3"]},
        (node("n1"), node("n2"), node("n3")),
        (pod("b1", on="n1", spec=host_port(80, "10.0.0.1")), pod("b2", on="n2", spec=host_port(80))),
    ),
    Scenario(
        "spread-skew",
        "hard spreading: only the emptiest zone keeps the skew at 1",
        pod("p", labels={"app": "a"}, spec={"topologySpreadConstraints": [spread(ZONE)]}),
        {"node": "n3", "feasible": ["n3"]},
        THREE_ZONES,
        (
            pod("b1", on="n1", labels={"app": "a"}),
            pod("b2", on="n1", labels={"app": "a"}),
            pod("b3", on="n2", labels={"app": "a"}),
        ),
    ),
    Scenario(
        "spread-not-self",
        "a pod that does not match its own selector does not count itself",
        pod("p", labels={"app": "b"}, spec={"topologySpreadConstraints": [spread(ZONE)]}),
        {"feasible": ["n2", "n3"]},
        THREE_ZONES,
        (pod("b1", on="n1", labels={"app": "a"}), pod("b2", on="n1", labels={"app": "a"})),
    ),
    Scenario(
        "spread-min-domains",
        "with fewer domains than minDomains the minimum is 0",
        pod("p", labels={"app": "a"}, spec={"topologySpreadConstraints": [spread(ZONE, minDomains=4)]}),
        {"node": None, "feasible": []},
        THREE_ZONES,
        tuple(pod(f"b{index}", on=f"n{index}", labels={"app": "a"}) for index in (1, 2, 3)),
    ),
    Scenario(
        "spread-selects-all",
        "a selector that selects everything counts nothing, yet the pod counts itself",
        pod("p", labels={"app": "a"}, spec={"topologySpreadConstraints": [spread(ZONE, app=None)]}),
        {"feasible": ["n1", "n2", "n3"]},
        THREE_ZONES,
        (pod("b1", on="n1", labels={"app": "a"}), pod("b2", on="n1", labels={"app": "a"})),
    ),
    Scenario(
        "spread-terminating",
        "spreading does not count pods that are being deleted",
        pod("p", labels={"app": "a"}, spec={"topologySpreadConstraints": [spread(ZONE)]}),
        {"feasible": ["n1", "n2", "n3"]},
        THREE_ZONES,
        (pod("b1", on="n1", labels={"app": "a"}),),
        terminating=("b1",),
    ),
    Scenario(
        "affinity-terminating",
        "pod affinity does count pods that are being deleted",
        pod("p", spec=required_terms("podAffinity", about_app("a"))),
        {"node": "n1", "feasible": ["n1"]},
        THREE_ZONES,
        (pod("b1", on="n1", labels={"app": "a"}),),
        terminating=("b1",),
    ),
    Scenario(
        "affinity-first-pod",
        "the first pod of a group that requires itself may go anywhere that has the key",
        pod("p", labels={"app": "a"}, spec=required_terms("podAffinity", about_app("a", ZONE))),
        {"feasible": ["n1", "n2"]},
        (node("n1", labels={ZONE: "z1"}), node("n2", labels={ZONE: "z2"}), node("n3")),
    ),
    Scenario(
        "affinity-all-terms",
        "one existing pod must match all required terms",
        pod(
            "p",
            spec=required_terms(
                "podAffinity",
                about_app("a"),
                {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"tier": "front"}}},
            ),
        ),
        {"node": "n2", "feasible": ["n2"]},
        (node("n1", labels={ZONE: "z1"}), node("n2", labels={ZONE: "z2"})),
        (
            pod("b1", on="n1", labels={"app": "a"}),
            pod("b2", on="n1", labels={"tier": "front"}),
            pod("b3", on="n2", labels={"app": "a", "tier": "front"}),
        ),
    ),
    Scenario(
        "anti-affinity-missing-key",
        "a node without the key of an anti-affinity term is fine",
        pod("p", spec=required_terms("podAntiAffinity", about_app("a", ZONE))),
        {"node": "n2", "feasible": ["n2"]},
        (node("n1", labels={ZONE: "z1"}), node("n2")),
        (pod("b1", on="n1", labels={"app": "a"}),),
    ),
    Scenario(
        "existing-anti-affinity-namespaces",
        "anti-affinity of an existing pod is judged by the labels of the new pod's namespace",
        pod("p", labels={"app": "a"}, namespace="shop"),
        {"node": "n2", "feasible": ["n2"]},
        (node("n1"), node("n2")),
        (
            pod(
                "b1",
                on="n1",
                spec=required_terms(
                    "podAntiAffinity", about_app("a", namespaceSelector={"matchLabels": {"team": "red"}})
                ),
            ),
        ),
        (namespace("shop", team="red"),),
    ),
    Scenario(
        "namespace-selector-not-in",
        "a namespaceSelector of the new pod that matches an empty label set matches every namespace",
        pod(
            "p",
            spec=required_terms(
                "podAntiAffinity",
                about_app(
                    "a",
                    namespaceSelector={"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["red"]}]},
                ),
            ),
        ),
        {"node": "n2", "feasible": ["n2"]},
        (node("n1"), node("n2")),
        (pod("b1", on="n1", namespace="shop", labels={"app": "a"}),),
        (namespace("shop", team="red"),),
    ),
    Scenario(
        "resize",
        "a running pod counts with the largest of spec, actual and allocated requests",
        pod("p", "1"),
        {"node": "n2", "feasible": ["n2"]},
        (node("n1", cpu="2"), node("n2", cpu="2")),
        (
            pod(
                "b1",
                "100m",
                on="n1",
                status={
                    "containerStatuses": [
                        {
                            "name": "main",
                            "image": "app:1",
                            "imageID": "",
                            "ready": True,
                            "restartCount": 0,
                            "state": {},
                            "allocatedResources": {"cpu": "1500m"},
                            "resources": {"requests": {"cpu": "1200m"}},
                        }
                    ]
                },
            ),
        ),
    ),
    Scenario(
        "finished-pods",
        "pods that have succeeded or failed take no room",
        pod("p", "1"),
        {"feasible": ["n1", "n2"]},
        (node("n1", cpu="1"), node("n2", cpu="1")),
        (
            pod("b1", "1", on="n1", status={"phase": "Succeeded"}),
            pod("b2", "1", on="n2", status={"phase": "Failed"}),
        ),
    ),
    Scenario(
        "cordon-toleration",
        "a toleration for the taint of cordoned nodes lets a pod in even without the taint",
        pod("p", spec={"tolerations": [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]}),
        {"feasible": ["n1", "n2"]},
        (node("n1") | {"spec": {"unschedulable": True}}, node("n2")),
    ),
)
