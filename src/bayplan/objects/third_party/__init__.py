"""Kinds of other projects: Kosmos, Crane, KubeVirt, Open Cluster Management."""
