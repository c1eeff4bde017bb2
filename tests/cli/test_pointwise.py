"""Pointwise order dependencies on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Holdfast, refused, write

LINES = ["town,pay,rate", "a,10,1", "a,20,2", "a,30,2", "b,15,3", "b,25,3", "b,35,4"]


@pytest.fixture
def pay(tmp_path: Path) -> Path:
    return write(tmp_path / "pay.csv", LINES)


def test_found_as_denial_constraints_that_check_takes(pay: Path, holdfast: Holdfast) -> None:
    ran = holdfast("discover", pay, "--rules", "pod", "--as", "dc")
    denials = ran.out.splitlines()
    assert "not(t.town = s.town and t.pay <= s.pay and t.rate > s.rate)" in denials
    for denial in denials:
        assert holdfast("check", pay, "--rule", denial).code == 0
    refused(holdfast("discover", pay, "--rules", "fd", "--as", "dc"), "add --rules pod")


def test_a_batch_that_breaks_one_says_how(pay: Path, tmp_path: Path, holdfast: Holdfast) -> None:
    state, more = tmp_path / "state", write(tmp_path / "more.csv", [LINES[0], "b,40,1"])
    assert holdfast("init", state, pay, "--watch", "pod").code == 0
    ran = holdfast("apply", state, "--insert", more, "--fail-on", "any")
    assert ran.code == 1
    assert "row 3 and row 6: both have town 'b'; pay 15 of row 3 is below pay 40 of row 6; rate 3 of row 3" in ran.out
    ran = holdfast("explain", state, "{town=, pay<=} -> rate<=")
    assert "does not hold: 3 of the" in ran.out
    assert holdfast("apply", state, "--delete", more).code == 0
    ran = holdfast("explain", state, "{town=, pay<=} -> rate<=")
    assert "holds in all 6 rows" in ran.out
    assert "as a denial constraint: not(t.town = s.town and t.pay <= s.pay and t.rate > s.rate)" in ran.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--rhs", "wage"), "--rhs: there is no column 'wage' in pay; choose from: town, pay, rate"),
        (("--ordered", "city"), "--ordered: there is no column 'city' in pay; choose from: town, pay, rate"),
    ],
)
def test_a_column_that_is_not_there(pay: Path, holdfast: Holdfast, words: tuple[str, ...], sentence: str) -> None:
    refused(holdfast("discover", pay, "--rules", "pod", *words), sentence)


def test_rules_that_few_pairs_test_are_included_on_request(pay: Path, holdfast: Holdfast) -> None:
    ran = holdfast("discover", pay, "--rules", "pod", "--vacuous", "--min-coverage", "0.1")
    refused(ran, "--vacuous asks for it; leave out one")


def test_text_takes_an_order_where_it_is_declared(pay: Path, tmp_path: Path, holdfast: Holdfast) -> None:
    state = tmp_path / "state"
    assert holdfast("init", state, pay, "--watch", "pod").code == 0
    refused(holdfast("explain", state, "{town<} -> rate<"), "watch the rules with --ordered town")
    ran = holdfast("discover", pay, "--rules", "pod", "--ordered", "town", "--format", "json")
    assert "{town<} -> rate<" in ran.out


def test_every_result_says_how_long_left_sides_may_be(pay: Path, tmp_path: Path, holdfast: Holdfast) -> None:
    state = tmp_path / "state"
    ran = holdfast("init", state, pay, "--watch", "pod,fd")
    assert "pointwise order dependencies, left sides up to 3" in ran.out
    assert "functional dependencies, left" not in ran.out
    for words in (("discover", pay, "--rules", "pod"), ("status", state)):
        assert "pointwise order dependencies, left sides up to 3" in holdfast(*words).out
        assert '"left_out": [], "max_lhs": {"pod": 3}}' in holdfast(*words, "--format", "json").out.splitlines()[0]
    assert "; left sides up to 3" in holdfast("status", state).err
    ran = holdfast("discover", pay, "--rules", "pod", "--max-lhs", "0")
    assert "no pointwise order dependencies found (left sides up to 0)" in ran.out


def test_rules_that_too_few_pairs_test_say_so(tmp_path: Path, holdfast: Holdfast) -> None:
    """Also those that are not shown, as they follow from others: `{A=} -> B=` from `{A<=} -> B<=`."""
    source = write(tmp_path / "twice.csv", ["A,B,C", *(f"{n // 2},{3 * (n // 2)},{n % 3}" for n in range(30))])
    state, more = tmp_path / "state", write(tmp_path / "more.csv", ["A,B,C", "90,270,0"])
    options = ("--max-lhs", "2", "--min-coverage", "0.034", "--method", "borders")
    assert holdfast("init", state, source, "--watch", "pod", *options).code == 0
    ran = holdfast("apply", state, "--insert", more)
    assert "implied: 2 rules still hold" in ran.out
    assert "2 are below --min-coverage" in ran.out
