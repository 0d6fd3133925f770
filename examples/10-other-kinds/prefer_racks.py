"""PreferRacks: nodes score what the ConfigMap kube-system/rack-scores says of their rack."""

from bayplan.framework import ScorePlugin


class PreferRacks(ScorePlugin):
    name = "PreferRacks"
    reads = ("ConfigMap",)

    def score_node(self, state, pod, node):
        scores = self.handle.objects.get("ConfigMap", "kube-system", "rack-scores")
        return int(scores["data"].get(node.labels.get("rack"), 0)) if scores else 0
