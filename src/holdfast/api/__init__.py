"""The verbs: discover, check and suggest without a state, or a monitor that keeps rules true under batches.

Their results are values of `results/`. Notebooks draw them with `report/`, which is loaded when something is drawn.
"""
