"""The Tax table of the denial constraint papers (papers: weever, section 6), made from a seed.

Invariant: without errors these hold exactly, within a table and across tables of any seed, because the
geography and the tax law are constants and only the people are drawn:
`Zip -> City`, `Zip -> State`, `AreaCode -> State`, `FName -> Gender`, `State, MaritalStatus -> SingleExemp`
and `-> MarriedExemp`, `State, HasChild -> ChildExemp`, and within a State, Rate grows strictly with Salary.
`key(AreaCode, Phone)` holds over all row indexes of one seed, and over different indexes of different seeds
while these stay below ten million.

Row i is a pure function of (seed, i, salaries), so a table can be made in pieces: its second thousand rows
are `make_tax(1000, offset=1000)`, whether or not the first were ever made. Only errors belong to a piece.
Cost: linear in rows, a few hundred bytes a row while it is made; a million rows take about a second.
"""

from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from holdfast.errors import BadInput

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Hashes = npt.NDArray[np.uint64]


def _words(text: str) -> list[str]:
    return text.split()


# In the order of their zip codes, so that those of New England start with a zero, as real ones do.
STATES = _words(
    "MA RI NH ME VT CT NJ NY PA DE DC MD VA WV NC SC GA FL AL TN MS KY OH IN MI IA "
    "WI MN SD ND MT IL MO KS NE LA AR OK TX CO WY ID UT AZ NM NV CA HI OR WA AK"
)
AREAS = 6 * len(STATES)  # an area belongs to the state `area % len(STATES)`
PHONES = 10_000_000  # numbers in one area
MOST_ROWS = AREAS * PHONES
MOST_SALARIES = 91_000
_ZIPS_PER_STATE = 400
_ZIP_RANGE = 1_940  # 51 ranges of this length fill 01001 to 99940
_TOWNS_PER_STATE = 120

_FIRST_HEADS = _words("Al An Be Ca Da De El Fa Ge Ha In Ja Ju Ka Le Li Ma Mi Na Ni Or Pa Ra Re Sa Se Ta Te Vi Za")
_FIRST_MIDDLES = _words("bri da la li lo ma mi na ne ra ri ro sa ti vi")
_FEMALE_TAILS = _words("a na lia rice sa tte lyn da line ssa")
_MALE_TAILS = _words("n rd ck son ll mon rt than s ld")
_LAST_HEADS = _words(
    "Ab Ar Bar Bek Bor Cal Car Chen Dar Dol Eng Fer Gar Gol Han Her Hol Jan Kal Kim Lar Lind Mac Mar Mor Nak "
    "Nor Ols Par Per Pol Ros Sal San Sch Sor Tan Tor Wal Wes"
)
_LAST_MIDDLES = _words("a ack ad an ar e en er et i ich in ing is o ol on or ow u ul un ur y")
_LAST_TAILS = _words("berg dez feld ford ley man mann ner ov sen ski son stra ton")
_TOWN_HEADS = _words(
    "ASH BEL BRIDGE BROOK BURLING CAMP CEDAR CHES CLEAR CLIF CORN CRYSTAL DAN EAST ELM FAIR FALL FRANK GLEN "
    "GRAND GREEN HAMIL HART HAZEL HIGH HUNTING IRON JACK KINGS LAKE LEX LIN MAPLE MARSH MID MILL NEW NORTH "
    "OAK PLAIN RED RIVER ROCK ROSE SALEM SHEL SILVER SOUTH SPRING STONE SUMMER UNION WALNUT WEST WHITE WIN"
)
_TOWN_TAILS = _words(
    "BORO BROOK BURG BURY CREEK DALE FIELD FORD GROVE HAVEN HURST LAND LEY MONT PORT SIDE TON VALE VIEW"
)


@dataclass(frozen=True)
class _World:
    """What no seed changes: who lies where, and who taxes how. Axes: area, state, zip (by state), city."""

    area_code: Ints  # area -> three digits
    phone_step: Ints  # area -> a number coprime to PHONES
    phone_start: Ints  # area -> the number of row 0
    zip_text: Any  # zip -> five digits
    zip_city: Ints  # zip -> city
    city_name: Any  # city -> name
    top_rate: Floats  # state -> the rate that no salary reaches
    half_salary: Ints  # state -> the salary that pays half of it
    single: Ints  # state -> exemption
    married: Ints  # state -> exemption
    child: Ints  # state -> exemption


@dataclass
class _People:
    """The drawn rows, still as numbers: positions in the lists of names and of the world."""

    first: Ints
    last: Ints
    female: Ints
    area: Ints
    number: Ints
    state: Ints
    zip: Ints
    city: Ints
    married: Ints
    parent: Ints
    salary: Ints
    rate: Floats
    child_exemption: Ints


def make_tax(
    rows: int, seed: int = 0, errors: float = 0.0, *, offset: int = 0, salaries: int = MOST_SALARIES
) -> pa.Table:
    """Rows `offset` to `offset + rows` of the Tax table of this seed.

    `errors` is the share of rows that get one wrong cell: a City that isn't the Zip's, a Rate that is off, a
    ChildExemp that is off, or the Phone of another row of the AreaCode, a quarter each; a row that is alone
    in its AreaCode gets a wrong City instead. `salaries` is the number of different salaries that can occur.
    """
    _check(rows, errors, offset, salaries)
    people = _draw(offset + np.arange(rows, dtype=np.int64), seed, salaries)
    wrong = round(rows * errors)
    if wrong:
        _spoil(people, wrong, f"{seed}/{offset}")
    return _as_table(people)


def write_csv(table: pa.Table, path: str | PathLike[str]) -> None:
    """Write a Tax table as CSV with a header and without quotes, which none of its values needs."""
    options = pa.csv.WriteOptions(quoting_style="none", quoting_header="none")
    pa.csv.write_csv(table, path, options)


def rate_of(state: Ints, salary: Ints) -> Floats:
    """The tax rate in per cent: strictly growing in salary within a state, with seven digits as published.

    A dollar more raises the unrounded rate by at least 5e-6, up to the greatest salary, so rounding keeps
    the order.
    """
    world = _world()
    share: Floats = salary / (salary + world.half_salary[state])
    return np.round(world.top_rate[state] * share, 7)


def _check(rows: int, errors: float, offset: int, salaries: int) -> None:
    if rows < 0 or offset < 0 or rows + offset > MOST_ROWS:
        raise BadInput(
            f"The Tax table has {MOST_ROWS:,} rows, but {rows:,} rows from row {offset:,} on were asked for; "
            "give smaller numbers that aren't negative."
        )
    if not 0.0 <= errors <= 1.0:
        raise BadInput(f"The share of rows with errors is {errors}; give a number from 0 to 1.")
    if not 1 <= salaries <= MOST_SALARIES:
        raise BadInput(f"The number of salaries is {salaries:,}; give one from 1 to {MOST_SALARIES:,}.")


def _hash(index: Ints, stream: str) -> Hashes:
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


def _below(bound: int, index: Ints, stream: str) -> Ints:
    """Uniform integers from 0 to bound - 1."""
    return (((_hash(index, stream) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32)).astype(np.int64)


def _unit(index: Ints, stream: str) -> Floats:
    """Uniform floats from 0 up to, but without, 1."""
    return (_hash(index, stream) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _draw(index: Ints, seed: int, salaries: int) -> _People:
    """The people of these row indexes, without errors."""
    world = _world()
    block, place = np.divmod(index, PHONES)
    # Unique: two indexes of one area and one block differ in place, and so in number, as the step is coprime
    # to PHONES; the same place in another block lies in another area.
    area = (_below(AREAS, place, f"{seed}/area") + block) % AREAS
    number = (place * world.phone_step[area] + world.phone_start[area]) % PHONES
    state = area % len(STATES)
    # Squared: few zip codes hold many people and many hold few, so that small tables have repeats too.
    crowded = (_unit(index, f"{seed}/zip") ** 2 * _ZIPS_PER_STATE).astype(np.int64)
    zip_code = state * _ZIPS_PER_STATE + crowded
    female = _below(2, index, f"{seed}/gender")
    parent = _below(2, index, f"{seed}/child")
    salary = 5_000 + _below(salaries, index, f"{seed}/salary") * (MOST_SALARIES // salaries)
    names = len(_first_names()) // 2
    return _People(
        first=_below(names, index, f"{seed}/first") + (1 - female) * names,
        last=_below(len(_last_names()), index, f"{seed}/last"),
        female=female,
        area=area,
        number=number,
        state=state,
        zip=zip_code,
        city=world.zip_city[zip_code],
        married=_below(2, index, f"{seed}/married"),
        parent=parent,
        salary=salary,
        rate=rate_of(state, salary),
        child_exemption=world.child[state] * parent,
    )


def _spoil(people: _People, wrong: int, stream: str) -> None:
    """Put one wrong cell into each of `wrong` rows of people."""
    every = np.arange(len(people.area), dtype=np.int64)
    chosen = np.argsort(_hash(every, f"{stream}/wrong"), kind="stable")[:wrong]
    bad_city, bad_rate, bad_child, bad_phone = (chosen[kind::4] for kind in range(4))
    alone = _repeat_phones(people, bad_phone, f"{stream}/phone")
    bad_city = np.concatenate([bad_city, alone])

    cities = len(_world().city_name)
    people.city[bad_city] += 1 + _below(cities - 1, bad_city, f"{stream}/city")
    people.city[bad_city] %= cities
    slip = 0.02 + 0.08 * _unit(bad_rate, f"{stream}/rate")
    sign = 2 * _below(2, bad_rate, f"{stream}/sign") - 1
    people.rate[bad_rate] = np.round(people.rate[bad_rate] * (1.0 + sign * slip), 7)
    people.child_exemption[bad_child] += 50 * (1 + _below(20, bad_child, f"{stream}/exemption"))


def _repeat_phones(people: _People, rows: Ints, stream: str) -> Ints:
    """Give each row the number of a row of its area that keeps its own; return those whose area has none."""
    keeps = np.ones(len(people.area), dtype=bool)
    keeps[rows] = False
    donors = np.flatnonzero(keeps)
    donors = donors[np.argsort(people.area[donors], kind="stable")]
    count = np.bincount(people.area[donors], minlength=AREAS)
    first = np.cumsum(count) - count

    has_donor = count[people.area[rows]] > 0
    paired, alone = rows[has_donor], rows[~has_donor]
    area = people.area[paired]
    pick = (_unit(paired, stream) * count[area]).astype(np.int64)
    people.number[paired] = people.number[donors[first[area] + pick]]
    return alone


def _as_table(people: _People) -> pa.Table:
    world, state, married = _world(), people.state, people.married
    return pa.table(
        {
            "FName": _first_names().take(pa.array(people.first)),
            "LName": _last_names().take(pa.array(people.last)),
            "Gender": pa.array(["M", "F"]).take(pa.array(people.female)),
            "AreaCode": world.area_code[people.area],
            "Phone": _phone_text(people.number),
            "City": world.city_name.take(pa.array(people.city)),
            "State": pa.array(STATES).take(pa.array(state)),
            "Zip": world.zip_text.take(pa.array(people.zip)),
            "MaritalStatus": pa.array(["S", "M"]).take(pa.array(married)),
            "HasChild": pa.array(["N", "Y"]).take(pa.array(people.parent)),
            "Salary": people.salary,
            "Rate": people.rate,
            "SingleExemp": world.single[state] * (1 - married),
            "MarriedExemp": world.married[state] * married,
            "ChildExemp": people.child_exemption,
        }
    )


def _phone_text(number: Ints) -> Any:
    """Numbers below PHONES as 'ddd-dddd', written straight into an Arrow buffer."""
    text = np.empty((len(number), 8), dtype=np.uint8)
    text[:, 3] = ord("-")
    rest = number
    for position in (7, 6, 5, 4, 2, 1, 0):
        rest, digit = np.divmod(rest, 10)
        text[:, position] = digit + ord("0")
    ends = np.arange(0, text.size + 1, 8, dtype=np.int64)
    wide = pa.LargeStringArray.from_buffers(len(number), pa.py_buffer(ends), pa.py_buffer(text))
    return wide.cast(pa.string())


@cache
def _first_names() -> Any:
    """All female names, then as many male ones."""
    return pa.array(
        head + middle + tail
        for tails in (_FEMALE_TAILS, _MALE_TAILS)
        for head in _FIRST_HEADS
        for middle in _FIRST_MIDDLES
        for tail in tails
    )


@cache
def _last_names() -> Any:
    return pa.array(head + middle + tail for head in _LAST_HEADS for middle in _LAST_MIDDLES for tail in _LAST_TAILS)


@cache
def _world() -> _World:
    states, areas = np.arange(len(STATES)), np.arange(AREAS)
    codes = np.array([code for code in range(201, 990) if code % 100 != 11])  # 211, 311, … are services
    single = 50 * np.maximum(0, _below(80, states, "world/single") - 12)  # some states exempt nothing
    zips = np.arange(len(STATES) * _ZIPS_PER_STATE)
    state, position = np.divmod(zips, _ZIPS_PER_STATE)
    digits = 1_001 + _ZIP_RANGE * state + position * 7 % _ZIP_RANGE  # 7 is coprime to the range: no repeats
    names = [head + tail for head in _TOWN_HEADS for tail in _TOWN_TAILS]
    # Towns of one state lie together in the list; neighbours overlap, so that a name can occur in two states.
    town = state * 20 + _below(_TOWNS_PER_STATE, zips, "world/city")
    return _World(
        area_code=_shuffle(codes, "world/areas")[:AREAS],
        phone_step=1_000_003 + 10 * _below(800_000, areas, "world/step"),  # ends in 3: coprime to ten million
        phone_start=_below(PHONES, areas, "world/start"),
        zip_text=pa.array([f"{zip_code:05d}" for zip_code in digits]),
        zip_city=_shuffle(np.arange(len(names)), "world/names")[town % len(names)],
        city_name=pa.array(names),
        top_rate=4.0 + _below(60, states, "world/top") / 10.0,
        half_salary=20_000 + 1_000 * _below(40, states, "world/half"),
        single=single,
        married=2 * single,
        child=50 * np.maximum(0, _below(60, states, "world/child") - 12),
    )


def _shuffle(values: Ints, stream: str) -> Ints:
    """The values in a fixed, well mixed order."""
    return values[np.argsort(_hash(np.arange(len(values)), stream), kind="stable")]
