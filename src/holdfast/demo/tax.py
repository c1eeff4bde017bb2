"""The Tax table of the denial constraint papers (papers: weever, section 6), always the same.

Invariant: these hold exactly, because the geography and the tax law are constants and only the people are drawn:
`Zip -> City`, `Zip -> State`, `AreaCode -> State`, `FName -> Gender`, `State, MaritalStatus -> SingleExemp`
and `-> MarriedExemp`, `State, HasChild -> ChildExemp`, `key(AreaCode, Phone)`, and within a State, Rate grows
strictly with Salary.

Row i is a pure function of i, so a table can be made in pieces: its second thousand rows are
`make_tax(1000, offset=1000)`, whether or not the first were ever made.
Cost: linear in rows, a few hundred bytes a row while it is made; a million rows take about a second. Does not load
pandas (see `table/arrow.py`), so that benchmarks measure without it.
"""

from hashlib import blake2b
from itertools import product
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from holdfast.table import arrow

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Hashes = npt.NDArray[np.uint64]


def hashed(index: Ints, stream: str) -> Hashes:
    """Uniform 64-bit numbers, one for each index and stream: splitmix64, with the stream's name as its start.

    Not NumPy's generators: those promise neither random access nor the same numbers in the next version.
    """
    start = int.from_bytes(blake2b(stream.encode(), digest_size=8).digest(), "little")
    x = index.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(start)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


def below(bound: int, index: Ints, stream: str) -> Ints:
    """Uniform integers from 0 to bound - 1."""
    return (((hashed(index, stream) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32)).astype(np.int64)


def unit(index: Ints, stream: str) -> Floats:
    """Uniform floats from 0 up to, but without, 1."""
    return (hashed(index, stream) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _shuffle(values: Ints, stream: str) -> Ints:
    """The values in a fixed, well mixed order."""
    return values[np.argsort(hashed(np.arange(len(values)), stream), kind="stable")]


# ---- what no draw changes: names, places and taxes -------------------------------------------------------------------

# In the order of their zip codes, so that those of New England start with a zero, as real ones do.
_STATES_BY_ZIP = (
    "MA RI NH ME VT CT NJ NY PA DE DC MD VA WV NC SC GA FL AL TN MS KY OH IN MI IA "
    "WI MN SD ND MT IL MO KS NE LA AR OK TX CO WY ID UT AZ NM NV CA HI OR WA AK"
)
STATES = _STATES_BY_ZIP.split()
AREAS = 6 * len(STATES)  # an area belongs to the state `area % len(STATES)`
PHONES = 10_000_000  # numbers in one area
MOST_ROWS = AREAS * PHONES
MOST_SALARIES = 91_000
_ZIPS_PER_STATE = 400
_ZIP_RANGE = 1_940  # 51 ranges of this length fill 01001 to 99940
_TOWNS_PER_STATE = 120

_FIRST_HEADS = "Al An Be Ca Da De El Fa Ge Ha In Ja Ju Ka Le Li Ma Mi Na Ni Or Pa Ra Re Sa Se Ta Te Vi Za"
_FIRST_MIDDLES = "bri da la li lo ma mi na ne ra ri ro sa ti vi"
_FEMALE_TAILS = "a na lia rice sa tte lyn da line ssa"
_MALE_TAILS = "n rd ck son ll mon rt than s ld"
_LAST_HEADS = (
    "Ab Ar Bar Bek Bor Cal Car Chen Dar Dol Eng Fer Gar Gol Han Her Hol Jan Kal Kim Lar Lind Mac Mar Mor Nak "
    "Nor Ols Par Per Pol Ros Sal San Sch Sor Tan Tor Wal Wes"
)
_LAST_MIDDLES = "a ack ad an ar e en er et i ich in ing is o ol on or ow u ul un ur y"
_LAST_TAILS = "berg dez feld ford ley man mann ner ov sen ski son stra ton"
_TOWN_HEADS = (
    "ASH BEL BRIDGE BROOK BURLING CAMP CEDAR CHES CLEAR CLIF CORN CRYSTAL DAN EAST ELM FAIR FALL FRANK GLEN "
    "GRAND GREEN HAMIL HART HAZEL HIGH HUNTING IRON JACK KINGS LAKE LEX LIN MAPLE MARSH MID MILL NEW NORTH "
    "OAK PLAIN RED RIVER ROCK ROSE SALEM SHEL SILVER SOUTH SPRING STONE SUMMER UNION WALNUT WEST WHITE WIN"
)
_TOWN_TAILS = "BORO BROOK BURG BURY CREEK DALE FIELD FORD GROVE HAVEN HURST LAND LEY MONT PORT SIDE TON VALE VIEW"


def _joined(*parts: str) -> list[str]:
    """A name for each choice of one word of each part."""
    return ["".join(words) for words in product(*map(str.split, parts))]


_FEMALE_NAMES = _joined(_FIRST_HEADS, _FIRST_MIDDLES, _FEMALE_TAILS)
_FIRST_NAMES = arrow.texts([*_FEMALE_NAMES, *_joined(_FIRST_HEADS, _FIRST_MIDDLES, _MALE_TAILS)])
_LAST_NAMES = arrow.texts(_joined(_LAST_HEADS, _LAST_MIDDLES, _LAST_TAILS))
TOWNS = arrow.texts(_joined(_TOWN_HEADS, _TOWN_TAILS))

_CODES = np.array([code for code in range(201, 990) if code % 100 != 11])  # 211, 311, … are services
_AREA_CODES = _shuffle(_CODES, "world/areas")[:AREAS]
_OF_AREAS, _OF_STATES = np.arange(AREAS), np.arange(len(STATES))
_PHONE_STEPS = 1_000_003 + 10 * below(800_000, _OF_AREAS, "world/step")  # ends in 3: coprime to ten million
_PHONE_STARTS = below(PHONES, _OF_AREAS, "world/start")
_SINGLE = 50 * np.maximum(0, below(80, _OF_STATES, "world/single") - 12)  # some states exempt nothing
_CHILD = 50 * np.maximum(0, below(60, _OF_STATES, "world/child") - 12)
_TOP_RATES = 4.0 + below(60, _OF_STATES, "world/top") / 10.0  # that no salary reaches
_HALF_SALARIES = 20_000 + 1_000 * below(40, _OF_STATES, "world/half")  # that pay half of it

_OF_ZIPS = np.arange(len(STATES) * _ZIPS_PER_STATE)
_ZIPS = arrow.texts(
    [
        f"{1_001 + _ZIP_RANGE * state + position * 7 % _ZIP_RANGE:05d}"  # 7 is coprime to the range: no repeats
        for state, position in product(range(len(STATES)), range(_ZIPS_PER_STATE))
    ]
)
# Towns of one state lie together in the list; neighbours overlap, so that a name can occur in two states.
_TOWN_PLACES = _OF_ZIPS // _ZIPS_PER_STATE * 20 + below(_TOWNS_PER_STATE, _OF_ZIPS, "world/city")
_TOWN_OF_ZIP = _shuffle(np.arange(len(TOWNS)), "world/names")[_TOWN_PLACES % len(TOWNS)]


def rate_of(state: Ints, salary: Ints) -> Floats:
    """The tax rate in per cent: strictly growing in salary within a state, with seven digits as published.

    A dollar more raises the unrounded rate by at least 5e-6, up to the greatest salary, so rounding keeps
    the order.
    """
    share: Floats = salary / (salary + _HALF_SALARIES[state])
    return np.round(_TOP_RATES[state] * share, 7)


# ---- people ----------------------------------------------------------------------------------------------------------


def make_tax(rows: int, *, offset: int = 0) -> pa.Table:
    """Rows `offset` to `offset + rows` of the Tax table; there are `MOST_ROWS`."""
    index = offset + np.arange(rows, dtype=np.int64)
    area, number = _phones(index)
    state = area % len(STATES)
    # Squared: few zip codes hold many people and many hold few, so that small tables have repeats too.
    crowded = (unit(index, "0/zip") ** 2 * _ZIPS_PER_STATE).astype(np.int64)
    zip_code = state * _ZIPS_PER_STATE + crowded
    female, married, parent = (below(2, index, f"0/{what}") for what in ("gender", "married", "child"))
    salary = 5_000 + below(MOST_SALARIES, index, "0/salary")
    names = len(_FEMALE_NAMES)
    return pa.table(
        {
            "FName": _chosen(_FIRST_NAMES, below(names, index, "0/first") + (1 - female) * names),
            "LName": _chosen(_LAST_NAMES, below(len(_LAST_NAMES), index, "0/last")),
            "Gender": _chosen(arrow.texts(["M", "F"]), female),
            "AreaCode": arrow.from_numpy(_AREA_CODES[area]),
            "Phone": _phone_text(number),
            "City": _chosen(TOWNS, _TOWN_OF_ZIP[zip_code]),
            "State": _chosen(arrow.texts(STATES), state),
            "Zip": _chosen(_ZIPS, zip_code),
            "MaritalStatus": _chosen(arrow.texts(["S", "M"]), married),
            "HasChild": _chosen(arrow.texts(["N", "Y"]), parent),
            "Salary": arrow.from_numpy(salary),
            "Rate": arrow.from_numpy(rate_of(state, salary)),
            "SingleExemp": arrow.from_numpy(_SINGLE[state] * (1 - married)),
            "MarriedExemp": arrow.from_numpy(2 * _SINGLE[state] * married),
            "ChildExemp": arrow.from_numpy(_CHILD[state] * parent),
        }
    )


def _chosen(values: pa.Array, places: Ints) -> pa.Array:
    return values.take(arrow.from_numpy(places))


def _phones(index: Ints) -> tuple[Ints, Ints]:
    """Areas and numbers, all pairs unique: two indexes of one area and one block differ in place, and so in number, as
    the step is coprime to PHONES; the same place in another block lies in another area.
    """
    block, place = np.divmod(index, PHONES)
    area = (below(AREAS, place, "0/area") + block) % AREAS
    return area, (place * _PHONE_STEPS[area] + _PHONE_STARTS[area]) % PHONES


def _phone_text(number: Ints) -> Any:
    """Numbers below PHONES as 'ddd-dddd'."""
    parts = [arrow.from_numpy(number // 10_000), arrow.from_numpy(number % 10_000)]
    padded = [pc.utf8_lpad(part.cast(pa.string()), width, "0") for part, width in zip(parts, (3, 4), strict=True)]
    return pc.binary_join_element_wise(*padded, arrow.text("-"))


def write_csv(table: pa.Table, path: str | PathLike[str]) -> None:
    """Write a Tax table as CSV with a header and without quotes, which none of its values needs."""
    options = pa.csv.WriteOptions(quoting_style="none", quoting_header="none")
    pa.csv.write_csv(table, path, options)
