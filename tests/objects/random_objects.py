"""Random objects of every built-in kind, most of them right, some with one mistake; used against a real API server.

`random_specs` makes the parts of pods that plugins look at; here is everything else that is read of an object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.objects import random_devices
from tests.objects.random_specs import Spec, SpecMaker

LONG = "x" * 64
NOT_NAMES = ["A B!", "", "-a", "a_b", "a..b", "x" * 254]
NOT_LABELS = ["A B!", "a.b", LONG, "", "-a"]
HUGE = [2**31, -(2**31) - 1, -1]
DISKS: list[tuple[str, Spec, list[Spec]]] = [
    ("gcePersistentDisk", {"pdName": "d"}, [{"pdName": ""}, {"pdName": "d", "partition": 256}]),
    ("awsElasticBlockStore", {"volumeID": "v"}, [{"volumeID": ""}, {"volumeID": "v", "partition": -1}]),
    (
        "iscsi",
        {"targetPortal": "1.2.3.4", "iqn": "iqn.2001-04.com.example:storage", "lun": 1},
        [
            {"targetPortal": "", "iqn": "iqn.2001-04.com.example:a", "lun": 1},
            {"targetPortal": "p", "iqn": "", "lun": 0},
        ],
    ),
    ("rbd", {"monitors": ["m"], "image": "i"}, [{"monitors": [], "image": "i"}, {"monitors": ["m"], "image": ""}]),
    ("azureDisk", {"diskName": "d", "diskURI": "https://blob/d"}, [{"diskName": "", "diskURI": "https://blob/d"}]),
    ("cinder", {"volumeID": "v"}, [{"volumeID": ""}]),
    ("portworxVolume", {"volumeID": "v"}, [{"volumeID": ""}]),
    ("vsphereVolume", {"volumePath": "p"}, [{"volumePath": ""}]),
    ("hostPath", {"path": "/a"}, [{"path": ""}]),
]


class ObjectMaker(SpecMaker):
    """Makes objects from a seed; `mistakes` is the chance that a part is made wrong."""

    def object(self, kind: str) -> Spec:
        version, make = MAKERS[kind]
        made: Spec = {"apiVersion": version, "kind": kind, "metadata": self.meta(kind), **make(self)}
        return made

    def meta(self, kind: str) -> Spec:
        # A disruption budget may be called anything.
        wrong = {"Service": ["A B!", "1a"], "PodDisruptionBudget": []}.get(kind, NOT_NAMES)
        made: Spec = {"name": self.pick(["web", "web-1"], wrong), "labels": self.written_labels()}
        if kind not in CLUSTER_WIDE:
            made["namespace"] = "default"
        if self.maybe(0.2):
            made["annotations"] = {self.pick(["a", "example.com/A"], ["a b", "/x", LONG]): "anything goes"}
        if self.maybe(0.2):
            made["ownerReferences"] = [self.owner() for _ in range(self.pick([1], [2]))]
        if self.maybe(0.1):
            made["finalizers"] = [self.pick(["example.com/a"], ["a b"])]
        return made

    def owner(self) -> Spec:
        return {
            "apiVersion": self.pick(["apps/v1"], ["", "a/b/c"]),
            "kind": self.pick(["ReplicaSet"], [""]),
            "name": self.pick(["web"], [""]),
            "uid": str(self.random.randint(1, 999)),
            "controller": True,
        }

    def written_labels(self) -> dict[str, str]:
        return {self.key(): self.value() for _ in range(self.random.randint(0, 2))}

    # -- pods --

    def pod_spec(self, restart: list[str] | None = None) -> Spec:
        made = self.spec()
        if self.maybe(0.4):
            made["restartPolicy"] = self.pick(["Always", "OnFailure", "Never"], ["Sometimes", "always"])
        if restart is not None:
            others = [each for each in ("Always", "OnFailure", "Never", "Sometimes") if each not in restart]
            made["restartPolicy"] = self.pick(restart, others)
            if (restart == ["Always"] and self.maybe(0.3)) or self.maybe(self.mistakes):
                del made["restartPolicy"]
        names = self.pick([0], [1])
        if names:
            made["containers"].append({**made["containers"][0]})
        for name, value in self.pod_fields("priorityClassName" in made):
            made[name] = value
        if self.maybe(0.5):
            made["volumes"] = [self.volume(f"v{number}") for number in range(self.random.randint(1, 2))]
            if self.maybe(self.mistakes):
                made["volumes"].append(made["volumes"][0])
        return made

    def pod_fields(self, named: bool) -> list[tuple[str, Any]]:
        fields: list[tuple[str, Any]] = [
            ("terminationGracePeriodSeconds", self.pick([0, 30], [-1])),
            ("schedulerName", self.pick(["mine", "default-scheduler"], ["", "A B!"])),
            ("runtimeClassName", self.pick(["gvisor"], ["missing", "A B!"])),
            ("schedulingGates", self.pick([[{"name": "a"}]], [[{"name": "a"}] * 2, [{"name": ""}], [{"name": "a b"}]])),
            ("hostUsers", self.pick([True], [])),
            ("preemptionPolicy", self.pick(["PreemptLowerPriority"], ["Maybe", ""])),
            ("priority", self.pick([0], [2**31])),
            (
                "resourceClaims",
                self.pick(
                    [[{"name": "c", "resourceClaimName": "d"}], [{"name": "c", "resourceClaimTemplateName": "d"}]],
                    [
                        [{"name": "c"}],
                        [{"name": "A B", "resourceClaimName": "d"}],
                        [{"name": "c", "resourceClaimName": "d", "resourceClaimTemplateName": "e"}],
                        [{"name": "c", "resourceClaimName": "d"}] * 2,
                        [{"name": "c", "resourceClaimName": "A B!"}],
                    ],
                ),
            ),
        ]
        chosen = [each for each in fields if self.maybe(0.12)]
        if named and not self.maybe(self.mistakes):  # the class says it
            chosen = [each for each in chosen if each[0] not in ("priority", "preemptionPolicy")]
        if all(name != "schedulingGates" for name, _ in chosen) or self.maybe(self.mistakes):
            chosen += [("nodeName", self.pick(["n1", "n1.a"], NOT_NAMES))] if self.maybe(0.2) else []
        if self.maybe(self.mistakes):
            chosen.append(("overhead", self.random.choice([{}, {"cpu": "1"}, {"cpu": "x"}])))
        return chosen

    def container(self, name: str) -> Spec:
        made = super().container(name)
        made["name"] = self.pick([name], NOT_LABELS)
        made["image"] = self.pick([made["image"]], ["", " web"])
        if self.maybe(0.3):
            made["ports"] = [self.port() for _ in range(self.random.randint(1, 2))]
        return made

    def init_container(self, name: str) -> Spec:
        made = super().init_container(name)
        if "restartPolicy" in made:
            made["restartPolicy"] = self.pick(["Always"], ["Sometimes", ""])
        return made

    def port(self) -> Spec:
        made = super().port()
        made["containerPort"] = self.pick([made["containerPort"]], [0, -1, 65536, 2**31])
        if self.maybe(0.3):
            made["hostPort"] = self.pick([made["containerPort"]], [-1, 65536])
        if self.maybe(0.3):
            made["hostIP"] = self.random.choice(["10.0.0.1", "::1", "0.0.0.0", "10.0.0.01"])
        if self.maybe(0.3):
            made["name"] = self.pick([f"p{made['containerPort']}"[:15]], ["A", "a_b", "x" * 16, "1", "a--b"])
        return made

    def volume(self, name: str) -> Spec:
        made: Spec = {"name": self.pick([name], NOT_LABELS)}
        sources: list[tuple[str, Any, list[Any]]] = [
            ("persistentVolumeClaim", {"claimName": "c"}, [{"claimName": ""}, {"claimName": "A B!"}]),
            ("emptyDir", {}, [{"sizeLimit": "-1"}]),
            ("configMap", {"name": "c"}, []),
            ("secret", {"secretName": "c"}, []),
            ("azureFile", {"secretName": "s", "shareName": "n"}, [{"secretName": "", "shareName": "n"}]),
            ("csi", {"driver": "d.example.com"}, [{"driver": ""}, {"driver": "A B!"}]),
            ("image", {"reference": "web:1"}, [{"reference": ""}]),
            ("ephemeral", {"volumeClaimTemplate": {"spec": self.claim_spec()}}, [{}]),
            *DISKS,
        ]
        source, right, wrong = self.random.choice(sources)
        made[source] = self.pick([right], wrong)
        if self.maybe(self.mistakes):
            made["hostPath" if source != "hostPath" else "emptyDir"] = {"path": "/x"} if source != "hostPath" else {}
        return made

    # -- workloads --

    def workload(self, restart: list[str] | None = None, **more: Any) -> Spec:
        labels = {"app": "web", "tier": "a"}
        selector = self.pick(
            [{"matchLabels": {"app": "web"}}, {"matchExpressions": [{"key": "app", "operator": "Exists"}]}],
            [
                {},
                None,
                {"matchLabels": {"app": "api"}},
                {"matchLabels": {}},
                {"matchExpressions": [self.expression(False)]},
            ],
        )
        made: Spec = {"selector": selector, "template": self.template(labels, restart), **more}
        if selector is None:
            del made["selector"]
        return {"spec": made}

    def template(self, labels: dict[str, str], restart: list[str] | None) -> Spec:
        spec = self.pod_spec(restart or ["Always"])
        spec.pop("nodeName", None)
        return {"metadata": {"labels": {**self.written_labels(), **labels}}, "spec": spec}

    def replicated(self) -> Spec:
        return self.workload(replicas=self.pick([0, 3], HUGE))

    def stateful_set(self) -> Spec:
        made = self.replicated()
        made["spec"]["serviceName"] = self.pick(["web"], [])
        if self.maybe(0.4):
            made["spec"]["podManagementPolicy"] = self.pick(["OrderedReady", "Parallel"], ["Sometimes"])
        if self.maybe(0.4):
            made["spec"]["ordinals"] = {"start": self.pick([0, 5], HUGE)}
        return made

    def daemon_set(self) -> Spec:
        return self.workload()

    def replication_controller(self) -> Spec:
        made = self.workload()
        spec = made["spec"]
        spec["selector"] = self.pick([{"app": "web"}], [{"app": "api"}, {"app": "a b"}])
        if self.maybe(0.3):
            del spec["selector"]
        spec["replicas"] = self.pick([0, 3], HUGE)
        return made

    def job_spec(self) -> Spec:
        made: Spec = {"template": self.template({}, ["OnFailure", "Never"])}
        for name in ("parallelism", "completions"):
            if self.maybe(0.5):
                made[name] = self.pick([0, 1, 5], HUGE)
        if self.maybe(0.4):
            made["completionMode"] = self.pick(["NonIndexed", "Indexed"], ["Sometimes"])
            if made["completionMode"] == "Indexed" and not self.maybe(self.mistakes):
                made.setdefault("completions", 2)
        if self.maybe(0.2):
            made["suspend"] = True
        if self.maybe(self.mistakes):
            made["selector"] = {"matchLabels": {"app": "web"}}
        return made

    def cron_job(self) -> Spec:
        schedule = self.pick(
            ["*/5 * * * *", "@hourly", "0 0 1 1 0", "0 9-17 * * MON-FRI", "@every 1h"],
            ["", "* * * *", "61 * * * *", "each minute", "* * * * * *", "@never", "0 0 0 * *", "*/0 * * * *"],
        )
        return {"spec": {"schedule": schedule, "jobTemplate": {"spec": self.job_spec()}}}

    # -- the rest --

    def node(self) -> Spec:
        spec: Spec = {"taints": self.some(self.taint)}
        if self.maybe(0.3):
            spec["unschedulable"] = True
        capacity = {
            self.pick(["cpu", "memory", "pods", "example.com/gpu", "hugepages-2Mi"], ["a b"]): self.pick(
                ["4"], ["x", "-1"]
            )
            for _ in range(2)
        }
        return {"spec": spec, "status": {"capacity": capacity, "allocatable": dict(capacity)}}

    def taint(self) -> Spec:
        return {
            "key": self.pick([f"k{self.random.randint(0, 999)}"], ["", "a b", "k"]),
            "value": self.value(),
            "effect": self.pick(["NoSchedule", "NoExecute", "PreferNoSchedule"], ["", "Never"]),
        }

    def service(self) -> Spec:
        return {"spec": {"selector": self.written_labels(), "ports": [{"port": 80}]}}

    def budget(self) -> Spec:
        amounts = [0, 1, "50%", "100%", "0%"]
        wrong = ["50.5%", "some", "101%", "-5%", "1", "%", -1, 2**31, "", " 5%", "5 %", "٥%"]
        spec: Spec = {"selector": self.selector()}
        names = self.pick([["minAvailable"], ["maxUnavailable"], []], [["minAvailable", "maxUnavailable"]])
        spec |= {name: self.pick(amounts, wrong) for name in names}
        if self.maybe(0.3):
            spec["unhealthyPodEvictionPolicy"] = self.pick(["AlwaysAllow", "IfHealthyBudget"], ["Sometimes"])
        return {"spec": spec}

    def priority_class(self) -> Spec:
        made: Spec = {"value": self.pick([0, -5, 1_000_000_000], [1_000_000_001, 2**31])}
        if self.maybe(0.3):
            made["preemptionPolicy"] = self.pick(["Never", "PreemptLowerPriority"], ["Sometimes"])
        return made

    def runtime_class(self) -> Spec:
        made: Spec = {"handler": self.pick(["runsc"], ["", "A B!", "a.b"])}
        if self.maybe(0.4):
            made["overhead"] = {"podFixed": {"cpu": self.pick(["1"], ["x", "-1"])}}
        if self.maybe(0.4):
            made["scheduling"] = {
                "nodeSelector": {self.key(): self.value()},
                "tolerations": self.some(self.toleration, 1),
            }
        return made

    def persistent_volume(self) -> Spec:
        name, right, wrong = self.random.choice(
            [*DISKS, ("csi", {"driver": "d.example.com", "volumeHandle": "h"},
                      [{"driver": "", "volumeHandle": "h"}, {"driver": "d.example.com", "volumeHandle": ""}])]
        )  # fmt: skip
        spec: Spec = {
            "capacity": self.pick(
                [{"storage": "1Gi"}], [{}, {"storage": "x"}, {"storage": "-1"}, {"storage": "0"}, {"cpu": "1"}]
            ),
            "accessModes": self.pick([["ReadWriteOnce"], ["ReadOnlyMany", "ReadWriteMany"]], [[], ["Sometimes"]]),
            name: self.pick([right], wrong),
        }
        self.add_storage_fields(spec)
        if self.maybe(0.3):
            terms = [self.node_term() for _ in range(self.pick([1, 2], [0]))]
            spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
        return {"spec": spec}

    def add_storage_fields(self, spec: Spec) -> None:
        if self.maybe(0.3):
            spec["volumeMode"] = self.pick(["Filesystem", "Block"], ["Sometimes"])
        if self.maybe(0.3):
            spec["storageClassName"] = self.pick(["fast", ""], ["A B!"])

    def claim_spec(self) -> Spec:
        spec: Spec = {
            "accessModes": self.pick([["ReadWriteOnce"], ["ReadWriteOncePod"]], [[], ["Sometimes"], ["ReadWriteOncePod", "ReadWriteOnce"]]),
            "resources": {"requests": self.pick([{"storage": "1Gi"}], [{}, {"storage": "x"}, {"storage": "-1"}, {"storage": "0"}])},
        }  # fmt: skip
        self.add_storage_fields(spec)
        if self.maybe(0.2):
            spec["selector"] = self.selector()
        return spec

    def storage_class(self) -> Spec:
        made: Spec = {"provisioner": self.pick(["example.com/p", "kubernetes.io/no-provisioner"], ["", "a b"])}
        if self.maybe(0.4):
            made["volumeBindingMode"] = self.pick(["Immediate", "WaitForFirstConsumer"], ["Sometimes"])
        if self.maybe(0.4):
            terms = [{"matchLabelExpressions": [self.topology() for _ in range(self.pick([1], [2]))]}]
            made["allowedTopologies"] = terms
        return made

    def topology(self) -> Spec:
        return {"key": self.pick(["zone"], ["a b"]), "values": self.pick([["a"], ["a", "b"]], [[], ["a", "a"]])}

    def storage_node(self) -> Spec:
        driver: Spec = {
            "name": self.pick(["d.example.com"], ["", "A B!", "x" * 64]),
            "nodeID": self.pick(["n"], ["", "x" * 300]),
        }
        if self.maybe(0.5):
            driver["topologyKeys"] = self.pick([["a"], ["a", "b"]], [["a", "a"], ["a b"], [""]])
        if self.maybe(0.5):
            driver["allocatable"] = {"count": self.pick([0, 5], HUGE)}
        return {"spec": {"drivers": [driver] * self.pick([1], [2])}}

    def storage_driver(self) -> Spec:
        return {"spec": {"attachRequired": True}}

    def storage_capacity(self) -> Spec:
        return {
            "storageClassName": self.pick(["fast"], ["", "A B!"]),
            "capacity": self.pick(["1Gi", "0"], ["x", "-1"]),
            "nodeTopology": self.selector(),
        }

    def attachment(self) -> Spec:
        source = self.pick([{"persistentVolumeName": "v"}], [{}, {"persistentVolumeName": ""}])
        return {
            "spec": {
                "attacher": self.pick(["d.example.com"], ["", "A B!"]),
                "nodeName": self.pick(["n"], [""]),
                "source": source,
            }
        }


MAKERS: dict[str, tuple[str, Callable[[ObjectMaker], Spec]]] = {
    "Pod": ("v1", lambda maker: {"spec": maker.pod_spec()}),
    "Node": ("v1", ObjectMaker.node),
    "Deployment": ("apps/v1", ObjectMaker.replicated),
    "ReplicaSet": ("apps/v1", ObjectMaker.replicated),
    "StatefulSet": ("apps/v1", ObjectMaker.stateful_set),
    "DaemonSet": ("apps/v1", ObjectMaker.daemon_set),
    "ReplicationController": ("v1", ObjectMaker.replication_controller),
    "Job": ("batch/v1", lambda maker: {"spec": maker.job_spec()}),
    "CronJob": ("batch/v1", ObjectMaker.cron_job),
    "Service": ("v1", ObjectMaker.service),
    "PodDisruptionBudget": ("policy/v1", ObjectMaker.budget),
    "PriorityClass": ("scheduling.k8s.io/v1", ObjectMaker.priority_class),
    "RuntimeClass": ("node.k8s.io/v1", ObjectMaker.runtime_class),
    "PersistentVolume": ("v1", ObjectMaker.persistent_volume),
    "PersistentVolumeClaim": ("v1", lambda maker: {"spec": maker.claim_spec()}),
    "StorageClass": ("storage.k8s.io/v1", ObjectMaker.storage_class),
    "CSINode": ("storage.k8s.io/v1", ObjectMaker.storage_node),
    "CSIDriver": ("storage.k8s.io/v1", ObjectMaker.storage_driver),
    "CSIStorageCapacity": ("storage.k8s.io/v1", ObjectMaker.storage_capacity),
    "VolumeAttachment": ("storage.k8s.io/v1", ObjectMaker.attachment),
    **random_devices.MAKERS,
}
CLUSTER_WIDE = {
    "Node", "PriorityClass", "RuntimeClass", "PersistentVolume", "StorageClass", "CSINode", "CSIDriver", "VolumeAttachment",
    "ResourceSlice", "DeviceClass", "DeviceTaintRule",
}  # fmt: skip
