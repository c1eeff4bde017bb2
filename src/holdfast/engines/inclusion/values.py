"""Values across columns: which columns compare, and how a value of one is found in another.

Columns compare within a **class**: numbers with numbers by exact value (`table.numbers`), text with text, dates with
dates, and so on. Under `compare="text"` there is one class only, and values compare as a CSV file would print them:
decimals with all their places, floats with one at least (17.00, 17.0 and 17 are three texts), dates as 2020-02-29.
A class has lanes (one, save for numbers), and values are equal iff lane and key are.

A column's dictionary is all that is needed to find a value in it: it is the inverted index of the paper, already kept,
sorted and on disk. So the generator (papers: inclusion, section 5.1) needs no store of its own: it is the dictionaries,
with a count for each code. Where values compare as text, a dictionary of texts with the same codes stands in.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from holdfast.table import images, numbers
from holdfast.table.dictionary import Dictionary
from holdfast.table.images import Images
from holdfast.table.numbers import Part
from holdfast.table.runs import ValueRun

Compare = Literal["typed", "text"]
NUMBER, TEXT = "number", "text"


def class_of(kept: pa.DataType, compare: Compare = "typed") -> str:
    """The class of a type: columns of one class compare."""
    if compare == "text" or pa.types.is_string(kept):
        return TEXT
    return NUMBER if numbers.is_number(kept) else str(kept)


def split(values: Images, kept: pa.DataType) -> list[Part]:
    """The keys of some images, lane by lane; ascending images have ascending keys."""
    if class_of(kept) == NUMBER:
        return numbers.split(values, kept)
    return [(0, values, np.arange(len(values)))] if len(values) else []


def find(lane: int, keys: Images, dictionary: Dictionary) -> NDArray[np.int64]:
    """The codes that some sorted, distinct keys of a lane have in a dictionary of their class, -1 where they have none.

    The fewer are looked up among the more: a column of three values costs three look-ups, however many keys there are.
    """
    codes = np.full(len(keys), -1, np.int64)
    numeric = class_of(dictionary.kept) == NUMBER
    wanted, places = numbers.back(lane, keys, dictionary.kept) if numeric else (keys, np.arange(len(keys)))
    if not len(wanted):
        return codes
    if len(dictionary) > len(wanted):
        codes[places] = dictionary.lookup(wanted)
        return codes
    wanted_run = ValueRun(0, wanted)
    for run in dictionary.runs:
        at, found = wanted_run.search(run.values)
        codes[places[at[found]]] = run.first + np.flatnonzero(found)
    return codes


def as_text(values: Images, kept: pa.DataType) -> Images:
    """Images of any type as those of the texts that stand for them in a file."""
    if pa.types.is_string(kept):
        return values
    texts = images.from_images(values, kept).cast(pa.string())
    if pa.types.is_floating(kept):
        texts = pc.replace_substring_regex(texts, r"^(-?[0-9]+)$", r"\1.0")
    return texts.cast(pa.large_binary())


def text_run(first: int, values: Images, kept: pa.DataType) -> ValueRun:
    """A run of texts in code order."""
    texts = as_text(values, kept)
    return ValueRun(first, texts, pc.array_sort_indices(texts).to_numpy().astype(np.int64))


class Texts:
    """A column's dictionary as texts, with the same codes. Follows the dictionary as it grows."""

    def __init__(self) -> None:
        self._followed: Dictionary | None = None
        self._texts = Dictionary(pa.string())

    def of(self, dictionary: Dictionary) -> Dictionary:
        """The texts of a dictionary."""
        if pa.types.is_string(dictionary.kept):
            return dictionary
        if self._followed is not None and not dictionary.extends(self._followed):
            self._texts = Dictionary(pa.string())
        old, self._followed = len(self._texts), dictionary
        if len(dictionary) > old:
            fresh = dictionary.image_range(old, len(dictionary) - old)
            self._texts = self._texts.appended(text_run(old, fresh, dictionary.kept))
        return self._texts
