"""A pod that names a rack runs only there; one that names none runs anywhere."""

from bayplan_racks.same_rack import ANNOTATION, SameRack

from bayplan.testing import cluster, make, node, pod, reasons, run_filter


def test_a_pod_runs_only_in_the_rack_it_names():
    cache = cluster([node("a").label(rack="r1"), node("b").label(rack="r2"), node("bare")])
    said = run_filter(make(SameRack, cache), pod("web").annotation({ANNOTATION: "r2"}), cache)
    assert reasons(said) == {"a": ["node(s) were in another rack"], "bare": ["node(s) were in another rack"]}
    assert reasons(run_filter(make(SameRack, cache), pod("easy"), cache)) == {}
