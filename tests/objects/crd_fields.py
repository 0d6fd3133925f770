"""The table of field names of the custom resources, made from the definitions that `bayplan manifests` prints.

`python -m tests.objects.crd_fields` writes `src/bayplan/objects/admission/custom_fields.txt` anew; a test compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from bayplan.app import install_manifests
from bayplan.objects.admission import api_fields

PATH = api_fields.PATH.with_name("custom_fields.txt")
_ANNOTATIONS = [
    "ReplicaOptions replicas requests score:Placement.spec.prioritizerPolicy.configurations.scoreCoordinate.addOn "
    "strategy weights:WeightedClusters",
    "WeightedClusters selector:LabelSelector weight",
]
"""What an annotation of Placements says; another test compares it with the classes that read it."""
_SELECTOR = {"matchLabels", "matchExpressions"}

Schema = dict[str, Any]


def definitions() -> list[Schema]:
    """Every definition of a kind that Bayplan ships."""
    texts = (install_manifests.manifests("crds"), install_manifests.manifests("placement-crds"))
    found = [each for text in texts for each in yaml.safe_load_all(text)]
    return [each for each in found if each["kind"] == "CustomResourceDefinition"]


def lines() -> list[str]:
    """One line for each type: its fields, with the types of those that have fields of their own."""
    found = [*_ANNOTATIONS]
    for each in definitions():
        (version,) = each["spec"]["versions"]
        found += _types(each["spec"]["names"]["kind"], version["schema"]["openAPIV3Schema"])
    return sorted(found)


def _types(name: str, schema: Schema) -> Iterator[str]:
    words = []
    for field, given in sorted(schema["properties"].items()):
        below = given.get("items", given)
        if field == "metadata" and "." not in name:
            words.append("metadata:ObjectMeta")
        elif set(below.get("properties", ())) == _SELECTOR:
            words.append(f"{field}:LabelSelector")
        elif below.get("properties"):
            words.append(f"{field}:{name}.{field}")
            yield from _types(f"{name}.{field}", below)
        else:
            words.append(field)
    yield f"{name} {' '.join(words)}"


if __name__ == "__main__":
    head = [line for line in PATH.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    PATH.write_text("\n".join([*head, *lines()]) + "\n", encoding="utf-8")
