"""Images that compare numbers of different types by their exact values: integers, floats and decimals in one order.

An image is the nearest float (its bits, as `holdfast.table.images` turns them) followed by what is left of the value,
as a signed 512-bit integer in units of 10**-38 * 2**-200, fine enough for every remainder that occurs: floats have
none, integers only beyond 2**53, and a decimal is a multiple of 10**-38 at least, its nearest float one of 2**-200.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.table import images

_EXACT = 1 << 53
_UNIT = 10**38 * 2**200
_BYTES = 64
_MIDDLE = 1 << (8 * _BYTES - 1)
_NOTHING_LEFT = np.frombuffer(_MIDDLE.to_bytes(_BYTES, "big"), np.uint8)


def is_number(kept: pa.DataType) -> bool:
    """Whether values of a kept type compare with other numbers."""
    return bool(pa.types.is_integer(kept) or pa.types.is_floating(kept) or pa.types.is_decimal(kept))


def common_images(own: images.Images, kept: pa.DataType) -> pa.LargeBinaryArray:
    """The images, comparable across types, of the numbers that have some images of their own type."""
    if pa.types.is_floating(kept):
        return _packed(own, {})
    if pa.types.is_integer(kept):
        nearest = own.astype(np.float64)
        inexact = np.flatnonzero((own > _EXACT) | (own < -_EXACT))
        return _packed(_float_images(nearest), {int(i): Fraction(int(own[i]) - int(nearest[i])) for i in inexact})
    values = [Fraction(value) for value in images.from_images(own, kept).to_pylist()]
    nearest = np.array([float(value) for value in values], np.float64)
    left = {i: rest for i, value in enumerate(values) if (rest := value - Fraction(float(nearest[i])))}
    return _packed(_float_images(nearest), left)


def _float_images(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    found: NDArray[np.int64] = images.to_images(pa.array(numbers), pa.float64())
    return found


def _packed(floats: NDArray[np.int64], left: dict[int, Fraction]) -> pa.LargeBinaryArray:
    whole = np.empty((len(floats), 8 + _BYTES), np.uint8)
    turned = floats.view(np.uint64) ^ np.uint64(1 << 63)
    whole[:, :8] = turned.astype(">u8").view(np.uint8).reshape(-1, 8)
    whole[:, 8:] = _NOTHING_LEFT
    for i, rest in left.items():
        whole[i, 8:] = np.frombuffer((int(rest * _UNIT) + _MIDDLE).to_bytes(_BYTES, "big"), np.uint8)
    offsets = np.arange(len(floats) + 1, dtype=np.int64) * whole.shape[1]
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(whole.tobytes())]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(floats), buffers)
