"""The Tax maker keeps the rules that it promises; checked with plain group-bys that know nothing of it."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pytest

from holdfast.demo import make_tax, write_csv
from holdfast.demo.tax import MOST_ROWS, MOST_SALARIES, STATES, rate_of
from holdfast.errors import BadInput

ROWS = 5_000
DEPENDENCIES = [
    (["Zip"], "City"),
    (["Zip"], "State"),
    (["AreaCode"], "State"),
    (["FName"], "Gender"),
    (["State", "MaritalStatus"], "SingleExemp"),
    (["State", "MaritalStatus"], "MarriedExemp"),
    (["State", "HasChild"], "ChildExemp"),
    (["State", "Salary"], "Rate"),
]


def broken_groups(table: pa.Table, lhs: list[str], rhs: str) -> int:
    """How many values of lhs see more than one value of rhs."""
    counted = table.group_by(lhs).aggregate([(rhs, "count_distinct")])
    return int(pc.sum(pc.greater(counted[f"{rhs}_count_distinct"], 1)).as_py() or 0)


def repeated_keys(table: pa.Table, columns: list[str]) -> int:
    return int(table.num_rows - table.group_by(columns).aggregate([]).num_rows)


def unfair_steps(table: pa.Table) -> int:
    """Neighbours in the order of (State, Salary, Rate) of which the one that earns more pays no higher rate."""
    rows = table.sort_by([("State", "ascending"), ("Salary", "ascending"), ("Rate", "ascending")])
    state, salary, rate = (rows[name].to_numpy() for name in ("State", "Salary", "Rate"))
    same_state = state[1:] == state[:-1]
    return int(np.sum(same_state & (salary[1:] > salary[:-1]) & (rate[1:] <= rate[:-1])))


def changed_cells(clean: pa.Table, dirty: pa.Table) -> dict[str, Any]:
    """For each column that differs, which rows do."""
    differs = {name: pc.not_equal(clean[name], dirty[name]).to_numpy() for name in clean.column_names}
    return {name: rows for name, rows in differs.items() if rows.any()}


@pytest.fixture(scope="module")
def tax() -> pa.Table:
    return make_tax(ROWS)


def test_the_columns_are_those_of_the_papers_table(tax: pa.Table) -> None:
    text, whole = pa.string(), pa.int64()
    expected = {"FName": text, "LName": text, "Gender": text, "AreaCode": whole, "Phone": text, "City": text}
    expected |= {"State": text, "Zip": text, "MaritalStatus": text, "HasChild": text, "Salary": whole}
    expected |= {"Rate": pa.float64(), "SingleExemp": whole, "MarriedExemp": whole, "ChildExemp": whole}
    assert dict(zip(tax.schema.names, tax.schema.types, strict=True)) == expected
    assert tax.num_rows == ROWS
    assert all(column.null_count == 0 for column in tax.columns)


def test_values_look_like_real_ones(tax: pa.Table) -> None:
    assert pc.all(pc.match_substring_regex(tax["Phone"], r"^\d{3}-\d{4}$")).as_py()
    assert pc.all(pc.match_substring_regex(tax["Zip"], r"^\d{5}$")).as_py()
    assert pc.any(pc.starts_with(tax["Zip"], "0")).as_py()
    assert set(tax["State"].unique().to_pylist()) == set(STATES)
    for column, values in [("Gender", "FM"), ("MaritalStatus", "MS"), ("HasChild", "NY")]:
        assert sorted(tax[column].unique().to_pylist()) == list(values)


@pytest.mark.parametrize(("lhs", "rhs"), DEPENDENCIES, ids=lambda side: str(side))
def test_dependencies_hold_without_errors(tax: pa.Table, lhs: list[str], rhs: str) -> None:
    assert broken_groups(tax, lhs, rhs) == 0


def test_phones_are_a_key_only_together_with_their_area(tax: pa.Table) -> None:
    assert repeated_keys(tax, ["AreaCode", "Phone"]) == 0
    assert repeated_keys(make_tax(50_000), ["Phone"]) > 0


def test_who_earns_more_pays_a_higher_rate(tax: pa.Table) -> None:
    assert unfair_steps(tax) == 0


def test_rates_grow_strictly_over_all_salaries_of_all_states() -> None:
    salary = np.arange(5_000, 5_000 + MOST_SALARIES, dtype=np.int64)
    for state in range(len(STATES)):
        assert np.all(np.diff(rate_of(np.full_like(salary, state), salary)) > 0)


def test_the_rules_are_not_trivial(tax: pa.Table) -> None:
    assert repeated_keys(tax, ["Zip"]) > ROWS // 10
    assert broken_groups(tax, ["City"], "State") > 0
    assert broken_groups(tax, ["HasChild"], "ChildExemp") > 0
    assert broken_groups(tax, ["Salary"], "Rate") > 0


def test_same_seed_same_table_and_other_seed_other_rows(tax: pa.Table) -> None:
    assert make_tax(ROWS).equals(tax)
    assert len(changed_cells(tax, make_tax(ROWS, seed=1))) == len(tax.column_names)
    dirty = make_tax(ROWS, seed=7, errors=0.1)
    assert dirty.equals(make_tax(ROWS, seed=7, errors=0.1))


def test_a_table_made_in_pieces_is_the_table(tax: pa.Table) -> None:
    pieces = [make_tax(1_500), make_tax(0, offset=1_500), make_tax(3_500, offset=1_500)]
    assert pa.concat_tables(pieces).combine_chunks().equals(tax.combine_chunks())


def test_batches_of_other_seeds_keep_the_rules_too(tax: pa.Table) -> None:
    batches = [make_tax(ROWS, seed=seed, offset=seed * ROWS) for seed in range(1, 5)]
    together = pa.concat_tables([tax, *batches])
    assert repeated_keys(together, ["AreaCode", "Phone"]) == 0
    assert [rule for rule in DEPENDENCIES if broken_groups(together, *rule)] == []
    assert unfair_steps(together) == 0


def test_phones_stay_a_key_past_the_numbers_of_one_area() -> None:
    edges = [make_tax(2_000, offset=offset) for offset in (0, 10_000_000 - 1_000, 20_000_000, MOST_ROWS - 2_000)]
    assert repeated_keys(pa.concat_tables(edges), ["AreaCode", "Phone"]) == 0


@pytest.mark.parametrize("share", [0.0002, 0.02, 0.5, 1.0])
def test_errors_spoil_one_cell_in_the_given_share_of_rows(tax: pa.Table, share: float) -> None:
    changed = changed_cells(tax, make_tax(ROWS, errors=share))
    assert set(changed) <= {"City", "Rate", "ChildExemp", "Phone"}
    cells_per_row = np.sum(list(changed.values()), axis=0)
    assert int(cells_per_row.sum()) == round(ROWS * share)
    assert cells_per_row.max() == 1


def test_the_kinds_of_errors_are_equally_likely_and_break_their_rules(tax: pa.Table) -> None:
    dirty = make_tax(ROWS, errors=0.02)
    counts = {name: int(rows.sum()) for name, rows in changed_cells(tax, dirty).items()}
    assert counts == {"City": 25, "Rate": 25, "ChildExemp": 25, "Phone": 25}
    assert repeated_keys(dirty, ["AreaCode", "Phone"]) == 25
    assert broken_groups(dirty, ["Zip"], "City") > 0
    assert broken_groups(dirty, ["State", "HasChild"], "ChildExemp") > 0
    assert unfair_steps(dirty) > 0
    assert broken_groups(dirty, ["AreaCode"], "State") == 0


def test_a_row_alone_in_its_area_gets_a_wrong_city_instead() -> None:
    tiny = 4
    changed = changed_cells(make_tax(tiny), make_tax(tiny, errors=1.0))
    assert {name: int(rows.sum()) for name, rows in changed.items()} == {"City": 2, "Rate": 1, "ChildExemp": 1}


def test_the_number_of_salaries_can_be_chosen() -> None:
    few = make_tax(ROWS, salaries=20)
    assert pc.count_distinct(few["Salary"]).as_py() == 20
    assert broken_groups(few, ["State", "Salary"], "Rate") == 0
    assert unfair_steps(few) == 0


def test_csv_reads_back(tax: pa.Table, tmp_path: Path) -> None:
    file = tmp_path / "tax.csv"
    write_csv(tax, file)
    assert file.read_text().splitlines()[0] == ",".join(tax.column_names)
    as_text = pa.csv.ConvertOptions(column_types={"Zip": pa.string()})
    assert pa.csv.read_csv(file, convert_options=as_text).equals(tax)


@pytest.mark.parametrize(
    "wrong",
    [{"rows": -1}, {"errors": 1.5}, {"errors": float("nan")}, {"offset": -1}, {"offset": MOST_ROWS}, {"salaries": 0}],
    ids=str,
)
def test_impossible_wishes_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="give"):
        make_tax(**({"rows": 1} | wrong))
