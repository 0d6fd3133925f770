"""The words of the resource.k8s.io API that more than one module needs."""

from __future__ import annotations

GROUP = "resource.k8s.io"
VERSION = "v1"
TAINT_RULE_VERSION = "v1beta2"
"""DeviceTaintRule is served in this version only, and only where somebody switched it on."""

DELETE_PROTECTION = "resource.kubernetes.io/delete-protection"
"""The finalizer that keeps an allocated claim until its devices are given back."""
EXTENDED_RESOURCE_CLAIM = "resource.kubernetes.io/extended-resource-claim"
"""Annotation of claims that the scheduler makes for plain extended resources."""
POD_CLAIM_NAME = "resource.kubernetes.io/pod-claim-name"
"""Annotation of claims made from a template: which of the pod's claims it is."""
DEVICE_CLASS_PREFIX = "deviceclass.resource.kubernetes.io/"
"""The extended resource that every DeviceClass has, whatever else it is called."""
ADMIN_ACCESS_LABEL = "resource.kubernetes.io/admin-access"
"""Namespaces with this label at "true" may ask for admin access."""

EXACT_COUNT = "ExactCount"
ALL = "All"
FROM_CLASS = "FromClass"
FROM_CLAIM = "FromClaim"
PODS = "pods"

MAX_RESULTS = 32
"""Devices that one claim can be given."""
