"""
What is kept between pods, so that the second pod of a template costs less than the first.

    pod --> pod_classes   which class is it of, and which plugins must be asked about it every time?
              |
            memory        the layers of its class, brought up to date where rows changed
              |
            layer         what a group of plugins said of every node: who fits, and the scores so far
              |                 objects layer: plugins that look at node objects, shared by many classes
              |                 rows layer: on top of it, plugins that look at a node's own row
            class_answers the rows layer of one class while rows change, and which rows are best
             /     \
    best_rows     sum_numbers      the maximum and its ties | rows whose sums are equal share an answer

``engine.evaluation`` asks the plugins that are left on top of these layers; with nothing kept it asks all of them.
"""
