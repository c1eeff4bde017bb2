"""Rules that are made when they are read."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.lazy_rules import LazyRules


class _Squares(LazyRules[int]):
    def __init__(self) -> None:
        self.looked_up = 0

    def __len__(self) -> int:
        return 3

    def __iter__(self) -> Iterator[str]:
        return map(str, range(3))

    def __getitem__(self, text: str) -> int:
        self.looked_up += 1
        return int(text) ** 2

    def rules(self) -> Iterator[int]:
        return (number**2 for number in range(3))


def test_all_rules_are_read_in_one_go_and_none_is_looked_up() -> None:
    squares = _Squares()
    assert list(squares.items()) == [("0", 0), ("1", 1), ("2", 4)]
    assert list(squares.values()) == [0, 1, 4]
    assert (len(squares.items()), len(squares.values())) == (3, 3)
    assert squares.looked_up == 0
    assert ("2", 4) in squares.items()
    assert squares == {"0": 0, "1": 1, "2": 4}
