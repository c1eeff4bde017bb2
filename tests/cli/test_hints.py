"""What to do next: rules as `discover` prints them are taken, misspelt words get suggestions, hints run as printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.running import Holdfast, refused, write


@pytest.fixture
def shop(holdfast: Holdfast, tmp_path: Path) -> Path:
    """A state of two tables with a column of the same name."""
    rows = [f"{n},{n % 3},{n % 3 + 10}" for n in range(30)]
    orders = write(tmp_path / "orders.csv", ["order_id,country,currency", *rows])
    customers = write(tmp_path / "customers.csv", ["id,zip,country", *(f"{n},{n % 7},{n % 2}" for n in range(40))])
    made = holdfast("init", tmp_path / "state", orders, customers, "--watch", "fd")
    assert made.code == 0, made.err
    return tmp_path / "state"


def _hints(sentence: str) -> list[list[str]]:
    """The commands that a sentence proposes, as words."""
    return [shlex.split(found[1]) for found in re.finditer(r"with: holdfast ([^;]+)", sentence)]


# ---- rules with their tables ----------------------------------------------------------------------------------------


def test_a_rule_may_name_its_table_wherever_it_is_written(holdfast: Holdfast, shop: Path, tmp_path: Path) -> None:
    """As `discover` prints the rules of several tables."""
    rule = "orders: country -> currency"
    pinned = holdfast("rules", shop, "pin", rule)
    assert (pinned.code, holdfast("rules", shop, "pin", rule, "--undo").code) == (0, 0), pinned.err
    assert holdfast("rules", shop, "ignore", rule).code == 0
    assert "country -> currency holds" in holdfast("explain", shop, rule).out
    added = holdfast("rules", shop, "add", rule)
    assert (added.code, "fd1: country -> currency: now given" in added.out) == (0, True), added.err
    wrong = write(tmp_path / "wrong.csv", ["order_id,country,currency", "99,1,0"])
    assert holdfast("apply", shop, "--insert", wrong, "--table", "orders").code == 1
    assert "country -> currency: 1 violation" in holdfast("violations", shop, rule).out
    refused(holdfast("violations", shop, "customers: country -> currency"), "there is no rule")
    assert holdfast("rules", shop, "accept", rule).code == holdfast("rules", shop, "accept", rule, "--undo").code == 0
    assert holdfast("rules", shop, "remove", rule).code == 0
    promoted = holdfast("rules", shop, "promote", "customers: id -> zip", "--name", "zips")
    assert promoted.code == 0, promoted.err
    assert "rule: id -> zip" in holdfast("rules", shop).out


def test_a_table_before_a_rule_is_that_of_the_rule(holdfast: Holdfast, shop: Path, tmp_path: Path) -> None:
    rule = "orders: country -> currency"
    refused(
        holdfast("rules", shop, "add", "ordrs: key(order_id)"), "'ordrs', which is not here; did you mean 'orders'?"
    )
    refused(holdfast("explain", shop, rule, "--table", "customers"), "is about 'orders', and not about 'customers'")
    refused(
        holdfast("rules", shop, "add", "customers: orders.country in customers.country"), "is about rows of 'orders'"
    )
    file = write(tmp_path / "rules.yaml", ["rules:", f'  - rule: "{rule}"', '  - rule: "customers: key(id)"'])
    tables = [tmp_path / "orders.csv", tmp_path / "customers.csv"]
    assert holdfast("check", *tables, "--rules", file).code == 0
    assert holdfast("check", *tables, "--rule", rule, "--rule", '"customers": key(id)').code == 0
    odd = tmp_path / "my orders.csv"
    odd.write_bytes(tables[0].read_bytes())
    assert holdfast("check", odd, tables[1], "--rule", "my orders: key(order_id)").code == 0
    time = "t.country != 12 and t.country < 50"
    assert holdfast("check", *tables, "--rule", f"orders: {time}").code == 0, "rules about rows, too"


# ---- misspelt words -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("pin x", "there is no command 'pin' here; did you mean holdfast rules STATE pin?"),
        ("retype x", "there is no command 'retype' here; did you mean holdfast columns STATE retype?"),
        ("rules s explain", "there is no command 'explain' here; did you mean holdfast explain?"),
        ("rules s pinn", "Did you mean 'pin'?"),
        ("discovr", "Did you mean 'discover'?"),
    ],
)
def test_commands_that_stand_elsewhere_are_named(holdfast: Holdfast, words: str, sentence: str) -> None:
    refused(holdfast(*words.split()), sentence)


def test_misspelt_rules_get_a_suggestion(holdfast: Holdfast, shop: Path) -> None:
    assert holdfast("rules", shop, "add", "orders: country -> currency").code == 0
    for command in (["violations", shop], ["explain", shop], ["rules", shop, "remove"], ["rules", shop, "pin"]):
        refused(holdfast(*command, "fd2"), "did you mean 'fd1'?")
    refused(holdfast("violations", shop, "country -> curency"), "did you mean 'country -> currency'?")
    refused(holdfast("rules", shop, "remove", "country -> curency"), "did you mean 'country -> currency'?")
    refused(holdfast("explain", shop, "country -> curency"), "did you mean 'country -> currency'?")
    refused(holdfast("explain", shop, "id -> amount"), "watches several tables; choose one with --table")
    misspelt = "orders: country -> curency"
    refused(holdfast("rules", shop, "pin", misspelt), "there is no column 'curency'; did you mean 'currency'?")


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        ("order_id, country => currency", "a functional dependency, such as Zip -> City"),
        ("kye(order_id)", "a key, such as key(Zip)"),
        ("orders.country inn customers.country", "an inclusion dependency"),
        ("age between 0 and 9", "a rule about one row"),
        ("country is not null", "a rule about one row"),
        ("row >= 3", "a rule about a table"),
        ("rows_in_bach >= 3", "a rule about a table"),
        ("avgg(id) > 3", "a rule about a table"),
        ("unique(id)", "a key, such as key(Zip)"),
    ],
)
def test_what_is_no_rule_is_refused_with_the_nearest_kind(holdfast: Holdfast, shop: Path, rule: str, kind: str) -> None:
    refusals = [
        holdfast("rules", shop, "add", rule),
        holdfast("rules", shop, "add", rule, "key(id)"),
        holdfast("rules", shop, "promote", rule),
        holdfast("explain", shop, rule),
        holdfast("check", shop.with_name("orders.csv"), "--rule", rule),
    ]
    for refusal in refusals:
        refused(refusal, repr(rule), f"the nearest kind is {kind}")
        assert len(refusal.sentence.split()) < 40


# ---- hints that are commands ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", [[], ["--evolve"]])
@pytest.mark.parametrize("hint", [0, 1])
def test_a_renamed_column_is_refused_with_commands_that_work(
    holdfast: Holdfast, shop: Path, tmp_path: Path, flag: list[str], hint: int
) -> None:
    """The commands are run as they are printed."""
    new = write(tmp_path / "new.csv", ["id,a note,postcode,country", "900,,3,1"])
    batch = ["apply", shop, "--insert", new, "--table", "customers"]
    refusal = holdfast(*batch, *flag)
    rename, drop = _hints(refusal.sentence)
    refused(refusal, "if 'zip' is now called", "then apply with --evolve")
    assert rename[:4] == ["columns", str(shop), "rename", "zip"]
    assert holdfast(*(rename, drop)[hint]).code == 0
    assert holdfast(*batch, "--evolve").code == 0


def test_a_column_more_or_less_is_refused_with_the_option_for_it(
    holdfast: Holdfast, shop: Path, tmp_path: Path
) -> None:
    more = write(tmp_path / "more.csv", ["id,zip,country,note", "900,3,1,"])
    less = write(tmp_path / "less.csv", ["id,country", "901,1"])
    for new in (more, less):
        batch = ["apply", shop, "--insert", new, "--table", "customers"]
        refused(holdfast(*batch), "or let the table change with --evolve")
        assert holdfast(*batch, "--evolve").code == 0


def test_a_state_where_data_are_expected_gets_commands_that_work(
    holdfast: Holdfast, shop: Path, tmp_path: Path
) -> None:
    commands = (
        ["discover", shop],
        ["init", tmp_path / "other", shop],
        ["apply", shop, "--insert", shop, "--table", "orders"],
    )
    for command in [*commands, ["check", shop, "--rule", "key(id)"], ["tables", shop, "add", f"more={shop}"]]:
        refusal = holdfast(*command)
        refused(refusal, "this is a state, not data")
        for hint in _hints(refusal.sentence):
            assert holdfast(*hint).code == 0
    file = tmp_path / "orders.csv"
    missing = holdfast("status", file).sentence
    assert missing.endswith(f"start one with: holdfast init state/ {file}")
