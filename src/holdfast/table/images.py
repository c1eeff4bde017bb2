"""Images: every value as a 64-bit integer or as bytes, so that images compare as the values do.

| kept type | image |
|---|---|
| integer, boolean, date, timestamp, time, interval | the number itself |
| float | its bits, turned so that they compare as signed integers; -0.0 as 0.0, every NaN as one that tops all |
| decimal up to 18 digits | the unscaled number |
| longer decimal | 16 bytes, big-endian, sign bit turned |
| text | UTF-8, whose byte order is the order of code points |

The lowest 64-bit integer is kept free for null, which sorts before every value.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from holdfast.table import arrow

Images: TypeAlias = Any  # NDArray[np.int64], or pa.LargeBinaryArray where is_wide()
NULL_KEY = np.iinfo(np.int64).min
_SIGN = np.uint64(1 << 63)
_LONG_DECIMAL_DIGITS = 18


def is_wide(kept: pa.DataType) -> bool:
    """Whether images of this type are bytes rather than integers."""
    return bool(pa.types.is_string(kept) or (pa.types.is_decimal(kept) and kept.precision > _LONG_DECIMAL_DIGITS))


def to_images(values: pa.Array, kept: pa.DataType) -> Images:
    """The images of non-null values of a kept type. Raises OverflowError for the one reserved integer."""
    if pa.types.is_string(kept):
        return values.cast(pa.large_binary())
    if pa.types.is_decimal(kept):
        words = np.frombuffer(values.buffers()[1], np.int64).reshape(-1, 2)[values.offset :][: len(values)]
        return _long_decimal_bytes(words) if is_wide(kept) else np.ascontiguousarray(words[:, 0])
    if pa.types.is_floating(kept):
        return _float_bits(arrow.to_numpy(values))
    if pa.types.is_boolean(kept):
        values = values.cast(pa.int8())
    elif pa.types.is_date(kept):
        values = values.cast(pa.int32())
    numbers = arrow.to_numpy(values.cast(pa.int64()))
    if len(numbers) and numbers.min() == NULL_KEY:
        raise OverflowError(str(NULL_KEY))
    return np.ascontiguousarray(numbers)


def from_images(images: Images, kept: pa.DataType) -> pa.Array:
    """The values that `to_images` turned into images."""
    if pa.types.is_string(kept):
        return images.cast(pa.string())
    if is_wide(kept):
        return _long_decimals(images, kept)
    if pa.types.is_decimal(kept):
        words = np.stack([images, images >> np.int64(63)], axis=1)
        return pa.Array.from_buffers(kept, len(words), [None, pa.py_buffer(np.ascontiguousarray(words))])
    if pa.types.is_floating(kept):
        return arrow.from_numpy(_floats(images))
    numbers = arrow.from_numpy(images)
    if pa.types.is_boolean(kept) or pa.types.is_date(kept):
        numbers = numbers.cast(pa.int8() if pa.types.is_boolean(kept) else pa.int32())
    return numbers.cast(kept)


def to_floats(images: Images, kept: pa.DataType) -> NDArray[np.float64]:
    """The numbers of a numeric type as floats, rounded where floats don't hold them."""
    if is_wide(kept):
        return np.asarray(arrow.to_numpy(from_images(images, kept).cast(pa.float64())))
    if pa.types.is_floating(kept):
        return _floats(images)
    numbers = np.asarray(images, np.float64)
    return numbers / 10.0**kept.scale if pa.types.is_decimal(kept) else numbers


def _floats(bits: NDArray[np.int64]) -> NDArray[np.float64]:
    """The floats whose bits `_float_bits` turned."""
    return np.asarray((bits ^ ((bits >> np.int64(63)) & np.int64(2**63 - 1))).view(np.float64))


def _float_bits(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    with np.errstate(invalid="ignore"):  # some NaNs ask for a warning when they are touched
        tidy = np.where(np.isnan(numbers), np.nan, numbers + 0.0)  # -0.0 + 0.0 is 0.0
    bits = tidy.view(np.int64)
    return bits ^ ((bits >> np.int64(63)) & np.int64(2**63 - 1))


def _long_decimal_bytes(words: NDArray[np.int64]) -> pa.LargeBinaryArray:
    unsigned = words.view(np.uint64)
    big_endian = np.stack([unsigned[:, 1] ^ _SIGN, unsigned[:, 0]], axis=1).astype(">u8")
    offsets = np.arange(len(words) + 1, dtype=np.int64) * 16
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(words), [None, pa.py_buffer(offsets), pa.py_buffer(big_endian.tobytes())]
    )


def _long_decimals(images: pa.LargeBinaryArray, kept: pa.DataType) -> pa.Array:
    _, data = bytes_of(images)
    big_endian = np.frombuffer(data.tobytes(), ">u8").reshape(-1, 2).astype(np.uint64)
    words = np.ascontiguousarray(np.stack([big_endian[:, 1], big_endian[:, 0] ^ _SIGN], axis=1))
    return pa.Array.from_buffers(kept, len(words), [None, pa.py_buffer(words)])


def bytes_of(images: pa.LargeBinaryArray) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Offsets and bytes of wide images, without a copy where the array starts at 0."""
    _, offsets, data = images.buffers()
    starts = np.frombuffer(offsets, np.int64)[images.offset : images.offset + len(images) + 1]
    if len(starts) == 0:
        return np.zeros(1, np.int64), np.empty(0, np.uint8)
    whole = np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8)
    if starts[0] == 0:  # the usual case, and the one where a copy would cost
        return starts, whole[: starts[-1]]
    return starts - starts[0], whole[starts[0] : starts[-1]]


def sorted_distinct(images: Images) -> tuple[Images, NDArray[np.int64]]:
    """The distinct images in order, and for each image its place among them."""
    if isinstance(images, np.ndarray):
        distinct, places = np.unique(images, return_inverse=True)
        return distinct, places.astype(np.int64)
    encoded = images.dictionary_encode()
    order = pc.array_sort_indices(encoded.dictionary)
    rank = np.empty(len(order), np.int64)
    rank[arrow.to_numpy(order)] = np.arange(len(order))
    return encoded.dictionary.take(order), rank[arrow.to_numpy(encoded.indices)]


def sorting_order(images: Images) -> NDArray[np.int64]:
    """The places of some distinct images, in the order of the images."""
    if isinstance(images, np.ndarray):
        return np.argsort(images)
    return arrow.to_numpy(pc.array_sort_indices(images)).astype(np.int64)


def same(some: Images, others: Images) -> bool:
    """Whether two arrays hold the same images in the same order."""
    return np.array_equal(some, others) if isinstance(some, np.ndarray) else bool(some.equals(others))


def concat(parts: list[Images]) -> Images:
    """Images end to end."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return pa.concat_arrays(parts)


def take(images: Images, places: NDArray[np.int64]) -> Images:
    """The images at some places."""
    return images[places] if isinstance(images, np.ndarray) else images.take(arrow.from_numpy(places))


def none_of(kept: pa.DataType) -> Images:
    """No image at all, of the right kind."""
    return pa.nulls(0, pa.large_binary()) if is_wide(kept) else np.empty(0, np.int64)
