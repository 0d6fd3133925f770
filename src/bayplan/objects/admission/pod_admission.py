"""What an API server refuses in the spec of a pod or of a pod template.

`created` calls `check_spec`; what plugins read is checked by `validating` already.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from ipaddress import ip_address

from bayplan.objects.admission import name_checks
from bayplan.objects.admission.storage_admission import check_claim, check_disks
from bayplan.objects.affinity import PodAffinityTerm
from bayplan.objects.mistakes import Mistakes, mistake, one_of, tried
from bayplan.objects.pod_spec import ALWAYS, Container, ContainerPort, PodSpec
from bayplan.objects.pod_volume import Volume
from bayplan.objects.requirement import check_key

_ZEROS = re.compile(r"(?<![0-9a-fA-F:])0+(?=[0-9])")
"""Before a number of an address, as people used to write it."""
_RESTART = (ALWAYS, "OnFailure", "Never")


def check_spec(spec: PodSpec, field: str) -> Mistakes:
    """Every mistake; `field` is where the spec stands."""
    if spec.restart_policy:
        yield from one_of(f"{field}.restartPolicy", spec.restart_policy, _RESTART)
    if spec.node_name:
        yield from name_checks.subdomain(f"{field}.nodeName", spec.node_name)
    if spec.runtime_class_name is not None:
        yield from name_checks.subdomain(f"{field}.runtimeClassName", spec.runtime_class_name)
    if spec.overhead is not None and not spec.runtime_class_name:
        yield mistake(f"{field}.overhead", "comes from a RuntimeClass only", "write runtimeClassName instead")
    yield from _containers(spec, field)
    yield from _gates(spec, f"{field}.schedulingGates")
    yield from _claims(spec, f"{field}.resourceClaims")
    for at, term in _pod_terms(spec, f"{field}.affinity"):
        for index, name in enumerate(term.namespaces or ()):
            yield from name_checks.label(f"{at}.namespaces[{index}]", name)
    volumes = spec.volumes or ()
    for index, each in enumerate(volumes):
        yield from _volume(f"{field}.volumes[{index}]", each)
    yield from name_checks.unique(f"{field}.volumes", (each.name for each in volumes))


def _containers(spec: PodSpec, field: str) -> Mistakes:
    parts = (("containers", spec.containers or ()), ("initContainers", spec.init_containers or ()))
    for part, containers in parts:
        for index, each in enumerate(containers):
            yield from _container(f"{field}.{part}[{index}]", each)
    every = [each for _, containers in parts for each in containers]
    yield from name_checks.unique(f"{field}.containers", (each.name for each in every))
    taken = Counter(
        (port.host_ip, port.host_port or port.container_port, port.protocol or "TCP")
        for each in spec.containers or ()
        for port in each.ports or ()
        if port.host_port or spec.host_network
    )
    for (_, number, protocol), count in taken.items():
        if count > 1:
            problem = f"host port {number} ({protocol}) is asked for {count} times"
            yield mistake(f"{field}.containers", problem, "ask for it once")


def _container(field: str, container: Container) -> Mistakes:
    yield from name_checks.label(f"{field}.name", container.name)
    if not container.image:
        yield mistake(f"{field}.image", "empty", "write one, such as nginx:1.29")
    elif container.image != container.image.strip():
        yield mistake(f"{field}.image", "there are blanks around it", "remove them")
    if container.restart_policy is not None:
        yield from one_of(f"{field}.restartPolicy", container.restart_policy, _RESTART)
    ports = container.ports or ()
    for index, port in enumerate(ports):
        yield from _port(f"{field}.ports[{index}]", port)
    yield from name_checks.unique(f"{field}.ports", (port.name for port in ports if port.name))


def _port(field: str, port: ContainerPort) -> Mistakes:
    if not port.container_port:
        yield mistake(f"{field}.containerPort", "there is none", "write a number from 1 to 65535")
    if port.name:
        yield from name_checks.port(f"{field}.name", port.name)
    try:
        ip_address(_ZEROS.sub("", port.host_ip or "0.0.0.0"))
    except ValueError:  # a server takes it, and no node ever can
        yield mistake(f"{field}.hostIP", f'"{port.host_ip}" is no address', "write one such as 10.0.0.1")


def _gates(spec: PodSpec, field: str) -> Mistakes:
    gates = spec.scheduling_gates or ()
    for index, gate in enumerate(gates):
        yield from tried(f"{field}[{index}].name", check_key, gate.name)
    yield from name_checks.unique(field, (gate.name for gate in gates))


def _claims(spec: PodSpec, field: str) -> Mistakes:
    claims = spec.resource_claims or ()
    for index, claim in enumerate(claims):
        at = f"{field}[{index}]"
        yield from name_checks.label(f"{at}.name", claim.name)
        written = [name for name in (claim.resource_claim_name, claim.resource_claim_template_name) if name is not None]
        if len(written) != 1:
            yield mistake(at, "names no claim or two", "write resourceClaimName or resourceClaimTemplateName")
        for name in written:
            yield from name_checks.subdomain(at, name)
    yield from name_checks.unique(field, (claim.name for claim in claims))
    known = {claim.name for claim in claims}
    for container in (*(spec.containers or ()), *(spec.init_containers or ())):
        used = container.resources.claims or ()
        for each in used:
            if each.name not in known:
                problem = f'container {container.name} uses "{each.name}", which is not there'
                yield mistake(field, problem, "write it here, or remove it from the container")
        yield from name_checks.unique(field, (f"{each.name}/{each.request}" for each in used))


def _pod_terms(spec: PodSpec, field: str) -> Iterator[tuple[str, PodAffinityTerm]]:
    if spec.affinity is None:
        return
    for part, written in (
        ("podAffinity", spec.affinity.pod_affinity),
        ("podAntiAffinity", spec.affinity.pod_anti_affinity),
    ):
        if written is None:
            continue
        for term in written.required_during_scheduling_ignored_during_execution or ():
            yield f"{field}.{part}", term
        for each in written.preferred_during_scheduling_ignored_during_execution or ():
            yield f"{field}.{part}", each.pod_affinity_term


def _volume(field: str, written: Volume) -> Mistakes:
    yield from name_checks.label(f"{field}.name", written.name)
    sources = [name for name in Volume.__struct_fields__ if name != "name" and getattr(written, name) is not None]
    if len(sources) > 1:
        yield mistake(field, "several kinds of volume at once", "keep one of them")
    yield from check_disks(field, written)
    if written.persistent_volume_claim is not None:
        at = f"{field}.persistentVolumeClaim.claimName"
        if not written.persistent_volume_claim.claim_name:
            yield mistake(at, "empty", "write the name of the claim")
    if written.csi is not None:
        yield from name_checks.subdomain(f"{field}.csi.driver", written.csi.driver.lower())
    if written.ephemeral is not None:
        template = written.ephemeral.volume_claim_template
        if template is None:
            yield mistake(f"{field}.ephemeral.volumeClaimTemplate", "there is none", "write the claim to make")
        else:
            yield from check_claim(template.spec, f"{field}.ephemeral.volumeClaimTemplate.spec")
