"""Numbers of every type in one form, so that equal numbers meet: 1, 1.00 and 1e0 are the same value.

A number's canonical form is `n / 10**s` with the least `s >= 0`. Numbers of one `s` form a **lane**, in which `n` is
the key: 64 bits wide, or 16 bytes where it doesn't fit. A float that isn't such a number (with `s <= 38` and 38 digits,
as decimals have) can equal none but floats, and goes by its image in a lane of its own; so do NaN and the infinities.
A float counts with its exact value: 0.5 equals the decimal 0.5, while 0.1, which no float is, equals no decimal.

Within a lane keys of ascending numbers ascend, so what is sorted stays sorted. `common_images` puts the numbers of all
lanes in one order: an image is the nearest float (its bits, as `images` turns them) followed by what is left of the
value, as a signed 512-bit integer in units of 10**-38 * 2**-200, fine enough for every remainder that occurs: floats
have none, integers only beyond 2**53, and a decimal is a multiple of 10**-38, its nearest float one of 2**-200.

Cost: integers go as they are; decimals cost a few vector steps a digit; only long numbers are handled one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.table import images
from holdfast.table.images import Images

WIDE, FLOATS = 64, 128  # lanes s are narrow, WIDE + s wide; FLOATS holds the floats that are no decimals
_DIGITS = 38
_INT64 = 1 << 63
_SIGN = 1 << 127
_FIVES = 27  # the highest power of 5 in 64 bits
_UNIT = 10**38 * 2**200
_BYTES = 64  # of what is left
_MIDDLE = 1 << (8 * _BYTES - 1)
_NOTHING_LEFT = np.frombuffer(_MIDDLE.to_bytes(_BYTES, "big"), np.uint8)
Places: TypeAlias = NDArray[np.int64]
Part: TypeAlias = tuple[int, Images, Places]  # the lane, the keys, and where they stood


def is_number(kept: pa.DataType) -> bool:
    """Whether values of a kept type compare with other numbers."""
    return bool(pa.types.is_integer(kept) or pa.types.is_floating(kept) or pa.types.is_decimal(kept))


def split(numbers: Images, kept: pa.DataType) -> list[Part]:
    """The keys of some numbers of a kept type, lane by lane, in the order given."""
    every = np.arange(len(numbers))
    if pa.types.is_integer(kept):
        return [(0, numbers, every)] if len(numbers) else []
    if pa.types.is_floating(kept):
        return _split_floats(numbers, kept)
    if not images.is_wide(kept) and kept.scale >= 0:
        return list(_split_short(numbers, every, kept.scale))
    return _split_long([unscaled * 10 ** max(-kept.scale, 0) for unscaled in _integers(numbers)], every, kept.scale)


def back(lane: int, keys: Images, kept: pa.DataType) -> tuple[Images, Places]:
    """The images that numbers of a lane have in a column of a kept type, and the places of those that have one."""
    if lane == FLOATS:
        return (keys, np.arange(len(keys))) if pa.types.is_floating(kept) else _none(kept)
    if pa.types.is_integer(kept):
        return (keys, np.arange(len(keys))) if lane == 0 else _none(kept)
    if pa.types.is_floating(kept):
        return _back_to_floats(lane, keys)
    if lane < WIDE and not images.is_wide(kept) and kept.scale >= 0:
        return _back_to_short(lane, keys, kept)
    return _back_to_long(lane, keys, kept)


def lowest_image(bound: Fraction, kept: pa.DataType) -> int | bytes | None:
    """The least image that a number at or above a bound can have; none where no number of the type is so high."""
    if pa.types.is_floating(kept):
        near = float(bound)
        if near != float("inf") and Fraction(near) < bound:
            near = float(np.nextafter(near, np.inf))
        return int(images.to_images(pa.array([near]), kept)[0])
    scaled = bound * Fraction(10) ** (kept.scale if pa.types.is_decimal(kept) else 0)
    least = -((-scaled.numerator) // scaled.denominator)
    if images.is_wide(kept):
        return _bytes(max(least, -_SIGN)) if least < _SIGN else None
    return max(least, -_INT64) if least < _INT64 else None


def exactly(image: int | bytes, kept: pa.DataType) -> Fraction | None:
    """The number that an image stands for; none for NaN and the infinities."""
    if pa.types.is_floating(kept):
        value = images.from_images(np.array([image], np.int64), kept)[0].as_py()
        return Fraction(value) if np.isfinite(value) else None
    unscaled = int.from_bytes(image, "big") - _SIGN if isinstance(image, bytes) else int(image)
    return Fraction(unscaled) / Fraction(10) ** (kept.scale if pa.types.is_decimal(kept) else 0)


# ---- all numbers in one order ---------------------------------------------------------------------------------------


def common_images(numbers: Images, kept: pa.DataType) -> pa.LargeBinaryArray:
    """Images of some numbers of a kept type that compare with those of other types by exact value."""
    if pa.types.is_floating(kept):
        return _packed(numbers, {})
    floats, left = np.empty(len(numbers), np.int64), dict[int, int]()
    for lane, keys, places in split(numbers, kept):
        found, exact = _back_to_floats(lane, keys)
        floats[places[exact]] = found
        inexact = np.ones(len(places), np.bool_)
        inexact[exact] = False
        others = np.flatnonzero(inexact)
        ten = 10 ** (lane % WIDE)
        own = _integers(images.take(keys, others))
        nearest = [n / ten for n in own]
        floats[places[others]] = images.to_images(pa.array(nearest, pa.float64()), pa.float64())
        rests = (n * (_UNIT // ten) - _in_units(near) for n, near in zip(own, nearest, strict=True))
        left.update(zip(places[others].tolist(), rests, strict=True))
    return _packed(floats, left)


def _in_units(value: float) -> int:
    numerator, denominator = value.as_integer_ratio()
    return numerator * (_UNIT // denominator)


def _packed(floats: NDArray[np.int64], left: dict[int, int]) -> pa.LargeBinaryArray:
    whole = np.empty((len(floats), 8 + _BYTES), np.uint8)
    turned = floats.view(np.uint64) ^ np.uint64(1 << 63)
    whole[:, :8] = turned.astype(">u8").view(np.uint8).reshape(-1, 8)
    whole[:, 8:] = _NOTHING_LEFT
    for i, rest in left.items():
        whole[i, 8:] = np.frombuffer((rest + _MIDDLE).to_bytes(_BYTES, "big"), np.uint8)
    offsets = np.arange(len(floats) + 1, dtype=np.int64) * whole.shape[1]
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(whole.tobytes())]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(floats), buffers)


# ---- short decimals -------------------------------------------------------------------------------------------------


def _split_short(unscaled: NDArray[np.int64], places: Places, scale: int) -> Iterator[Part]:
    """Strip trailing zeros, a digit at a time from those that have one."""
    while scale and len(places):
        shorter, digit = np.divmod(unscaled, 10)
        whole = digit == 0
        if not whole.all():
            yield scale, unscaled[~whole], places[~whole]
            unscaled, places = shorter[whole], places[whole]
        else:
            unscaled = shorter
        scale -= 1
    if len(places):
        yield 0, unscaled, places


def _back_to_short(lane: int, keys: NDArray[np.int64], kept: pa.DataType) -> tuple[Images, Places]:
    if lane > kept.scale:
        return _none(kept)
    factor = 10 ** (kept.scale - lane)
    most = (10**kept.precision - 1) // factor
    fits = np.flatnonzero((keys <= most) & (keys >= -most))
    return keys[fits] * np.int64(factor), fits


# ---- floats ---------------------------------------------------------------------------------------------------------


def _split_floats(numbers: NDArray[np.int64], kept: pa.DataType) -> list[Part]:
    values = images.from_images(numbers, kept).to_numpy()
    with np.errstate(invalid="ignore"):
        whole = np.isfinite(values) & (np.floor(values) == values)
        integers = np.flatnonzero(whole & (np.abs(values) < _INT64))
    other = np.flatnonzero(np.isfinite(values) & ~whole)
    odd, power = _odd_parts(values[other])
    parts: list[Part] = [(0, values[integers].astype(np.int64), integers)] if len(integers) else []
    narrow = _narrow(odd, power)
    for scale in np.unique(power[narrow]):
        chosen = np.flatnonzero(narrow & (power == scale))
        parts.append((int(scale), odd[chosen] * np.int64(5 ** int(scale)), other[chosen]))
    # m / 2**k is m * 5**k / 10**k: too wide for 64 bits, but perhaps not for a long decimal.
    long = np.flatnonzero(~narrow & (power <= _DIGITS) & (np.abs(values[other]) < 10.0**_DIGITS))
    fives = [int(m) * 5 ** int(k) for m, k in zip(odd[long], power[long], strict=True)]
    fits = [abs(n) < 10**_DIGITS for n in fives]
    giant = np.flatnonzero(whole & (np.abs(values) >= _INT64) & (np.abs(values) < 10.0**_DIGITS))
    parts += _lanes(
        [n for n, good in zip(fives, fits, strict=True) if good] + [int(values[place]) for place in giant],
        np.concatenate([power[long][fits], np.zeros(len(giant), np.int64)]),
        np.concatenate([other[long][fits], giant]),
    )
    rest = np.setdiff1d(np.arange(len(values)), np.concatenate([np.empty(0, np.int64), *(p[2] for p in parts)]))
    return [*parts, (FLOATS, numbers[rest], rest)] if len(rest) else parts


def _odd_parts(values: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each value, which isn't whole, as `m / 2**k` with m odd."""
    mantissa, exponent = np.frexp(values)
    integer = np.ldexp(mantissa, 53).astype(np.int64)
    _, zeros = np.frexp((integer & -integer).astype(np.float64))
    zeros = zeros.astype(np.int64) - 1
    return integer >> zeros, 53 - exponent.astype(np.int64) - zeros


def _narrow(odd: NDArray[np.int64], power: NDArray[np.int64]) -> NDArray[np.bool_]:
    most = np.array([(_INT64 - 1) // 5**k for k in range(_FIVES + 1)], np.int64)
    return np.asarray((power <= _FIVES) & (np.abs(odd) <= most[np.clip(power, 0, _FIVES)]))


def _back_to_floats(lane: int, keys: Images) -> tuple[Images, Places]:
    scale = lane % WIDE
    if lane >= WIDE:
        own = _integers(keys)
        fits = np.array([Fraction(n / 10**scale) == Fraction(n, 10**scale) for n in own], np.bool_)
        numbers = np.array([n / 10**scale for n in own], np.float64)[fits]
        return images.to_images(pa.array(numbers), pa.float64()), np.flatnonzero(fits)
    if scale > _FIVES:
        return _none(pa.float64())
    odd, remainder = np.divmod(keys, np.int64(5**scale))
    near = odd.astype(np.float64)
    inside = (remainder == 0) & (np.abs(near) < _INT64)
    exact = np.flatnonzero(inside & (np.where(inside, near, 0).astype(np.int64) == odd))
    return images.to_images(pa.array(np.ldexp(near[exact], -scale)), pa.float64()), exact


# ---- long numbers, one by one ---------------------------------------------------------------------------------------


def _integers(numbers: Images) -> list[int]:
    if isinstance(numbers, np.ndarray):
        return [int(n) for n in numbers]
    return [int.from_bytes(n, "big") - _SIGN for n in numbers.to_pylist()]


def _split_long(unscaled: list[int], places: Places, scale: int) -> list[Part]:
    scales = np.full(len(unscaled), max(scale, 0), np.int64)
    for i, n in enumerate(unscaled):
        while scales[i] and n % 10 == 0:
            n //= 10
            scales[i] -= 1
        unscaled[i] = n
    return _lanes(unscaled, scales, places)


def _lanes(keys: list[int], scales: NDArray[np.int64], places: Places) -> list[Part]:
    narrow = np.array([abs(n) < _INT64 for n in keys], np.bool_)
    lanes = np.where(narrow, scales, WIDE + scales)
    parts: list[Part] = []
    for lane in np.unique(lanes):
        chosen = np.flatnonzero(lanes == lane)
        own = [keys[i] for i in chosen]
        parts.append((int(lane), np.array(own, np.int64) if lane < WIDE else _wide(own), places[chosen]))
    return parts


def _back_to_long(lane: int, keys: Images, kept: pa.DataType) -> tuple[Images, Places]:
    unit = Fraction(10) ** kept.scale / 10 ** (lane % WIDE)
    scaled = [n * unit for n in _integers(keys)]
    places = [i for i, n in enumerate(scaled) if n.denominator == 1 and abs(n.numerator) < 10**kept.precision]
    own = [scaled[i].numerator for i in places]
    return (_wide(own) if images.is_wide(kept) else np.array(own, np.int64)), np.array(places, np.int64)


def _wide(numbers: list[int]) -> Images:
    return pa.array([_bytes(n) for n in numbers], pa.large_binary())


def _bytes(number: int) -> bytes:
    return (number + _SIGN).to_bytes(16, "big")


def _none(kept: pa.DataType) -> tuple[Images, Places]:
    return images.none_of(kept), np.empty(0, np.int64)
