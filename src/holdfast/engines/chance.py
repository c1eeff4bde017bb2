"""How often chance breaks a rule: the breaks to expect in the next 100 usual batches, if nothing changes.

All that is known of a rule are rows that kept it. Each estimate here gives the breaks to expect **a row**; a usual
batch has some rows, so 100 of them have a hundred times as many, and `expected_breaks` multiplies.

*A law or an accident.* A rule that all rows kept may be a law: only a wrong row breaks it, and chance never does. Or it
holds by accident, and a row that tests it breaks it with some probability, all being equally likely before any row was
seen. Let `odds` be how many accidents there are to one law among rules that look like this one. After t tests that the
rule passed, an accident is t + 1 times less likely than it was, and it breaks in the next test with probability 1 / (t
+ 2) (Laplace's rule of succession). So a test breaks the rule with probability

    odds / (t + 1) / (1 + odds / (t + 1)) / (t + 2)

A plain 1 / (t + 1) is that without laws. What a test is depends on the rule: a row, a row that shares its left side
with another, or a value that was not there before.

*A limit.* Where numbers end before a limit, their tail says how many of the rows should have been beyond it, if the
tail just went on. If `beyond` were to be expected and none came, that has probability exp(-beyond): so either few are
to be expected in future, or the limit is a law.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

BATCHES = 100  # the next ones, for which breaks are expected
ASSUMED = 30  # a table without history: a usual batch has this part of its rows

# Accidents to one law. Measured on the tables of the field, cut after 50 to 10,000 rows (docs/suggestions.md).
OF_ROWS = 1 / 100  # that a column has values, equations
OF_TEXTS = 1 / 20  # formats
OF_COMPARISONS = 1 / 20
OF_TIMES = 1 / 2000  # of two times, which mostly are steps of one process (assumed: the tables have too few of them)
_LONGER = 5.0  # as many more accidents with one more column
OF_DEPENDENCIES = 1 / 300  # keys, dependencies and references, of which only likely ones are looked at


def of_law(tests: float, share: float, odds: float) -> float:
    """The breaks to expect a row of a rule that passed some tests; `share` of the rows test it.

    >>> of_law(tests=0, share=1.0, odds=1.0), of_law(tests=998, share=0.5, odds=0.01) < 1e-7
    (0.25, True)
    """
    accident = odds / (tests + 1)
    return share * accident / (1 + accident) / (tests + 2)


def of_exceptions(broken: int, tests: float, share: float) -> float:
    """The same of a rule that some tests broke: by the mean of the rates that these leave open.

    >>> of_exceptions(broken=4, tests=98, share=1.0)
    0.05
    """
    return share * (broken + 1) / (tests + 2)


def of_limit(beyond: float, rows: int, odds: float) -> float:
    """The breaks to expect a row of a limit that all rows kept, where a tail that goes on would have had `beyond` of
    them beyond it.

    >>> of_limit(beyond=0.0, rows=100, odds=0.01), of_limit(beyond=30.0, rows=100, odds=0.01) < 1e-14
    (0.0, True)
    """
    accident = odds * math.exp(-beyond)
    return beyond / rows * accident / (1 + accident)


def of_new_values(values: int, single: int, rows: int) -> float:
    """The values to expect a row that were not there before, where `single` of the values occur once: by Good and
    Turing their share of the rows; or by Ewens, where new values come by chance at a rate of values / log(rows).

    >>> of_new_values(values=90, single=50, rows=1000)
    0.05
    """
    return max(single, values / math.log(rows + 2)) / rows if rows else 1.0


def of_filled(nulls: Sequence[int], rows: int) -> float:
    """The nulls to expect a row of a column that has none, given how many the columns of its table have.

    A column of which one row in a hundred is null has no null in the first fifty rows more often than not. How many
    such columns a table has, the others show: a column with one null stands for one that has none yet and gets its
    first after about as many rows again (Good and Turing), a column with k nulls for exp(1 - k) of them. Where no
    column has few nulls, there is no sign of any.

    >>> of_filled([0, 0, 500], rows=1000) < 1e-7, round(of_filled([0, 0, 1], rows=1000), 7)
    (True, 0.0005)
    """
    filled = sum(not each for each in nulls)
    likewise = sum(math.exp(1 - each) for each in nulls if each)
    return of_law(rows, 1.0, OF_ROWS) + likewise / filled / rows


def of_texts(values: int, varied: int, single: int, rows: int) -> float:
    """The same of the format of `values` texts: only one that was not there before tests it. Of a part that has
    letters, `varied` different ones show that these may be any.
    """
    return of_law(min(values, varied), max(single, 1) / rows, OF_TEXTS)


def of_dependency(tests: int, broken: int, rows: int, columns: int = 1, apart: int | None = None) -> float:
    """The same of a key, a dependency or a reference that some rows tested, and some broke; `apart` of the tests (None:
    all) are independent of the test before. Of several `columns` on a left side or in a key there are many, so more of
    them are accidents.
    """
    share = tests / rows if rows else 1.0
    odds = OF_DEPENDENCIES * _LONGER ** (columns - 1)
    return of_exceptions(broken, tests, share) if broken else of_law(tests if apart is None else apart, share, odds)


def expected_breaks(a_row: float, usual: float) -> float:
    """The breaks to expect in the next 100 batches of `usual` rows."""
    return BATCHES * usual * a_row
