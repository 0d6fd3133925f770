"""NoMaintenance: no pods go to racks that a Maintenance names."""

from bayplan.framework import Change, Code, FilterPlugin, Kind, On, Reason

IN_MAINTENANCE = Reason(Code.UNRESOLVABLE, "node(s) were in maintenance")


class NoMaintenance(FilterPlugin):
    name = "NoMaintenance"
    reasons = (IN_MAINTENANCE,)
    reads = (Kind("example.com", "v1", "Maintenance", namespaced=False),)

    def requeue_on(self):
        return (On("Maintenance", Change.UPDATED | Change.DELETED), On("Node", Change.ADDED | Change.LABEL))

    def filter_node(self, state, pod, node):
        for work in self.handle.objects.list("Maintenance"):
            if node.labels.get("rack") in work["spec"]["racks"]:
                return IN_MAINTENANCE
        return None
