"""The Tax table of the demo with errors in it, as the papers that made it measure on: a wrong cell in some rows."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.demo.tax import TOWNS, Ints, below, hashed, make_tax, unit


def dirty_tax(rows: int, errors: float, *, offset: int = 0) -> pa.Table:
    """Rows of the Tax table, of which this share has one wrong cell: a City that isn't the Zip's, a Rate that is off, a
    ChildExemp that is off, or the Phone of another row of the AreaCode, a quarter each; a row that is alone in its
    AreaCode gets a wrong City instead. Errors belong to the piece: they are other ones where a table is made in others.
    """
    table = make_tax(rows, offset=offset)
    wrong = round(rows * errors)
    return _spoiled(table, wrong, f"0/{offset}") if wrong else table


def _spoiled(table: pa.Table, wrong: int, stream: str) -> pa.Table:
    every = np.arange(table.num_rows, dtype=np.int64)
    chosen = np.argsort(hashed(every, f"{stream}/wrong"), kind="stable")[:wrong]
    bad_city, bad_rate, bad_child, bad_phone = (chosen[kind::4] for kind in range(4))
    donors, alone = _donors(table["AreaCode"].to_numpy(), bad_phone, f"{stream}/phone")
    bad_city = np.concatenate([bad_city, alone])

    city = pc.index_in(table["City"], TOWNS).to_numpy().astype(np.int64)
    city[bad_city] += 1 + below(len(TOWNS) - 1, bad_city, f"{stream}/city")
    rate, child = (table[name].to_numpy().copy() for name in ("Rate", "ChildExemp"))
    slip = 0.02 + 0.08 * unit(bad_rate, f"{stream}/rate")
    sign = 2 * below(2, bad_rate, f"{stream}/sign") - 1
    rate[bad_rate] = np.round(rate[bad_rate] * (1.0 + sign * slip), 7)
    child[bad_child] += 50 * (1 + below(20, bad_child, f"{stream}/exemption"))
    changed = {
        "City": TOWNS.take(pa.array(city % len(TOWNS))),
        "Phone": table["Phone"].take(pa.array(donors)),
        "Rate": pa.array(rate),
        "ChildExemp": pa.array(child),
    }
    for name, values in changed.items():
        table = table.set_column(table.schema.get_field_index(name), name, values)
    return table


def _donors(areas: Ints, rows: Ints, stream: str) -> tuple[Ints, Ints]:
    """Whose phone each row has: of some rows that of another of its area, which keeps its own; and those of them whose
    area has none.
    """
    whose = np.arange(len(areas), dtype=np.int64)
    others = np.delete(whose, rows)
    others = others[np.argsort(areas[others], kind="stable")]
    first = np.searchsorted(areas[others], areas[rows])
    count = np.searchsorted(areas[others], areas[rows], "right") - first
    paired = count > 0
    pick = (unit(rows[paired], stream) * count[paired]).astype(np.int64)
    whose[rows[paired]] = others[first[paired] + pick]
    return whose, rows[~paired]
