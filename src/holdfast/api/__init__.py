"""The verbs: discover and check once, or create and open a monitor that keeps rules true under batches.

What they give lies in `results/`, and a notebook draws it by `report/`, which is loaded when something is drawn.
"""

import holdfast
from holdfast.results.drawn import Drawn

Drawn.html_of = lambda result: holdfast.html_of(result)
