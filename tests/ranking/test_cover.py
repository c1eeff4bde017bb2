"""Rules that follow from others are counted and not shown; by hand, and by Armstrong's rules on random covers."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from holdfast.engines.scored import Scored
from holdfast.ranking.order import Implications, implications_of
from holdfast.rules.dependency import FD, Key

ROWS = 1000
COLUMNS = ["a", "b", "c", "d", "e"]


def fd(text: str, to_remove: int = 0, score: float = 0.9) -> Scored:
    left, right = text.split(" -> ")
    return Scored(FD("t", tuple(left.split(", ")), right), "t", score, ROWS, "", to_remove, to_remove / ROWS)


def key(text: str, score: float = 0.9) -> Scored:
    return Scored(Key("t", tuple(text.split(", "))), "t", score, ROWS, "")


def cover(*likely: Scored) -> Implications:
    return implications_of(likely, ROWS, COLUMNS)


def test_a_chain_tells_its_links_alone() -> None:
    found = cover(fd("a -> b"), fd("a -> c"), fd("b -> c"))
    assert found.same.sets == ()
    assert found.implied_by == {"a -> c": ("a -> b", "b -> c")}


def test_columns_that_determine_each_other_are_one() -> None:
    pairs = [fd(f"{x} -> {y}") for x, y in product("abc", "abc") if x != y]
    found = cover(*pairs, fd("a -> d"), fd("b -> d"), fd("c -> d"))
    assert found.same.sets == (("a", "b", "c"),)
    shown = {each.text for each in [*pairs, fd("a -> d")]} - found.implied_by.keys()
    assert shown == {"a -> b", "b -> a", "a -> c", "c -> a", "a -> d"}
    assert found.implied_by["b -> d"] == ("a -> d", "a = b = c")
    assert found.implied_by["b -> c"] == ("b -> a", "a -> c")


def test_the_column_with_the_best_rules_stands_for_the_others() -> None:
    found = cover(fd("b -> a", score=0.99), fd("a -> b", score=0.9))
    assert found.same.sets == (("b", "a"),)


def test_a_rule_with_exceptions_is_no_reason_for_an_exact_one() -> None:
    assert cover(fd("a -> b", 3), fd("b -> c"), fd("a -> c")).implied_by == {}
    assert cover(fd("a -> b", 3), fd("b -> c"), fd("a -> c", 5)).implied_by == {"a -> c": ("a -> b", "b -> c")}


def test_columns_are_not_the_same_where_one_direction_has_exceptions() -> None:
    assert cover(fd("a -> b"), fd("b -> a", 20)).same.sets == ()
    assert cover(fd("a -> b", 15), fd("b -> a", 20)).same.sets == (("a", "b"),)


def test_how_many_more_exceptions_are_not_many_more() -> None:
    """Twice as many; and of columns that determine each other one row of a thousand more."""
    same = (("a", "b"),)
    assert [cover(fd("a -> b"), fd("b -> a", gone)).same.sets for gone in (1, 2)] == [same, ()]
    assert [cover(fd("a -> b", 10), fd("b -> a", gone)).same.sets for gone in (21, 22)] == [same, ()]
    both = fd("a -> b"), fd("b -> a")
    assert cover(*both, fd("a -> d", 10), fd("b -> d", 5)).implied_by == {"b -> d": ("a -> d", "a = b")}
    assert "b -> d" not in cover(*both, fd("a -> d", 11), fd("b -> d", 5)).implied_by


def test_an_exact_rule_does_not_follow_from_one_with_exceptions_of_a_column_that_stands_for_its_own() -> None:
    same = [fd("a -> b", 4), fd("b -> a", 4)]
    assert "b -> c" not in cover(*same, fd("a -> c", 9, 0.95), fd("b -> c")).implied_by
    assert cover(*same, fd("a -> c", 9, 0.95), fd("b -> c", 8)).implied_by == {"b -> c": ("a -> c", "a = b")}


def test_a_key_determines_everything_and_keys_follow_from_better_ones() -> None:
    found = cover(key("a"), fd("a, b -> c"), key("d, e", 0.8), fd("e -> b"), key("b, d", 0.7))
    assert found.implied_by == {"a, b -> c": ("key(a)",)}
    found = cover(key("a, b"), fd("c -> b"), key("a, c", 0.8))
    assert found.implied_by == {"key(a, c)": ("key(a, b)", "c -> b")}
    found = cover(key("a, b"), fd("c -> b", 4), fd("b -> c", 4), key("a, c", 0.8))
    assert found.implied_by == {"key(a, c)": ("key(a, b)", "b = c")}


@given(
    st.lists(
        st.tuples(st.sets(st.sampled_from("abcde"), min_size=1, max_size=2), st.sampled_from("abcde")), max_size=12
    )
)
def test_shown_rules_imply_the_others(drawn: list[tuple[set[str], str]]) -> None:
    """The shown rules have the closure of all, and each other one says what it follows from."""
    rules = {(frozenset(left), right) for left, right in drawn if right not in left}
    scored = [
        fd(f"{', '.join(sorted(left))} -> {right}") for left, right in sorted(rules, key=lambda r: (sorted(r[0]), r[1]))
    ]
    found = cover(*scored)
    shown = [each for each in scored if each.text not in found.implied_by]
    equal = [fd(f"{x} -> {y}") for columns in found.same.sets for x, y in product(columns, columns) if x != y]
    for each in scored:
        assert each.rule.to_json()["rhs"] in closure(each.columns, [*shown, *equal])
    known = {each.text for each in scored} | {" = ".join(columns) for columns in found.same.sets}
    assert all(set(why) <= known for why in found.implied_by.values())


def closure(columns: list[str], rules: list[Scored]) -> set[str]:
    reached = set(columns)
    for _ in rules:
        reached |= {each.rule.to_json()["rhs"] for each in rules if set(each.columns) <= reached}
    return reached
