"""Constants of rules as Arrow arrays. They are made of buffers (see `table.arrow`): batches pass here."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from holdfast.rules.constants import Constant, Value
from holdfast.rules.numbers import exactly
from holdfast.table import arrow, images

_EPOCH = dt.datetime(1970, 1, 1)
_MICROSECOND = dt.timedelta(microseconds=1)


def array_of(constants: Sequence[Constant], kept: pa.DataType) -> pa.Array:
    """Some constants of a kept type, or of decimals."""
    if pa.types.is_string(kept):
        return arrow.texts([str(each.value) for each in constants])
    if pa.types.is_decimal(kept):
        return arrow.texts([format(exactly(each), "f") for each in constants]).cast(kept)
    return images.from_images(np.array([_image(each.value) for each in constants], np.int64), kept)


def scalar_of(constant: Constant, kept: pa.DataType) -> pa.Scalar:
    """One of them."""
    return array_of([constant], kept)[0]


def _image(value: Value) -> int:
    """A value that is no text as a number (see `table.images`)."""
    if isinstance(value, dt.datetime):
        return (value.replace(tzinfo=None) - _EPOCH) // _MICROSECOND
    if isinstance(value, dt.date):
        return (value - _EPOCH.date()).days
    if isinstance(value, dt.time):
        return (dt.datetime.combine(_EPOCH, value) - _EPOCH) // _MICROSECOND
    assert isinstance(value, int)
    return int(value)
