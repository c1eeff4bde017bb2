"""Arrays that kernels take and give, by type."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]  # numbers, places, ids
Words = NDArray[np.uint64]  # sets as bits, hashes, keys
Mask = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Codes = NDArray[np.uint32]  # codes or ranks of a table's cells
Rows = NDArray[np.int32]  # places of rows
