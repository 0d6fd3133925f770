"""What a scheduler reads of Kubernetes, as immutable structs: no sockets, no policy.

Import from the module that holds the thing:

    pod, node, workload, policy, volume   the kinds; `kinds` lists them and decodes raw objects
    meta, affinity, pod_spec, pod_volume  the parts they are made of
    quantity, resources, requests         amounts, and what a pod asks for
    requirement, selector, toleration     who matches whom, compiled once
    manifests -> loading                  files to objects, by way of `validating` and `defaulting`
"""
