"""The Tax maker keeps the rules that it promises; checked with plain group-bys that know nothing of it."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pytest

from holdfast.demo.tax import MOST_ROWS, MOST_SALARIES, STATES, make_tax, rate_of, write_csv

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


def test_the_table_is_the_same_each_time(tax: pa.Table) -> None:
    assert make_tax(ROWS).equals(tax)


def test_a_table_made_in_pieces_is_the_table(tax: pa.Table) -> None:
    pieces = [make_tax(1_500), make_tax(0, offset=1_500), make_tax(3_500, offset=1_500)]
    assert pa.concat_tables(pieces).combine_chunks().equals(tax.combine_chunks())


def test_later_rows_keep_the_rules_too(tax: pa.Table) -> None:
    together = pa.concat_tables([tax, *(make_tax(ROWS, offset=number * 1_000_000) for number in range(1, 5))])
    assert repeated_keys(together, ["AreaCode", "Phone"]) == 0
    assert [rule for rule in DEPENDENCIES if broken_groups(together, *rule)] == []
    assert unfair_steps(together) == 0


def test_phones_stay_a_key_past_the_numbers_of_one_area() -> None:
    edges = [make_tax(2_000, offset=offset) for offset in (0, 10_000_000 - 1_000, 20_000_000, MOST_ROWS - 2_000)]
    assert repeated_keys(pa.concat_tables(edges), ["AreaCode", "Phone"]) == 0


def test_csv_reads_back(tax: pa.Table, tmp_path: Path) -> None:
    file = tmp_path / "tax.csv"
    write_csv(tax, file)
    assert file.read_text().splitlines()[0] == ",".join(tax.column_names)
    as_text = pa.csv.ConvertOptions(column_types={"Zip": pa.string()})
    assert pa.csv.read_csv(file, convert_options=as_text).equals(tax)
