"""Passes over the codes of a shard: counting them, and finding rows by what some of their columns hold."""

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.inclusion import mixed
from holdfast.kernels.jit import kernel

_ODD = np.uint64(0xBF58476D1CE4E5B9)


@kernel
def count_codes(codes: NDArray[np.unsignedinteger], alive: NDArray[np.bool_], total: NDArray[np.uint32]) -> None:
    """Count the codes of living rows. IN codes[n]; alive[n], or empty where all are alive. OUT total[code]."""
    if len(alive) == 0:
        for i in range(len(codes)):
            total[codes[i]] += 1
    else:
        for i in range(len(codes)):
            if alive[i]:
                total[codes[i]] += 1


@kernel
def _hash(tuples: NDArray[np.int64], i: int) -> np.uint64:
    value = _ODD
    for c in range(len(tuples)):
        value = mixed(value ^ np.uint64(tuples[c, i]))
    return mixed(value)


@kernel
def build_set(tuples: NDArray[np.int64], start: int, table: NDArray[np.int64]) -> None:
    """An open hash table of tuples: their places, -1 where free.

    IN  tuples[k, n], of which those before `start` are in the table already
    OUT table[m], m a power of 2 > n; equal tuples get one place, that of the first
    """
    k = len(tuples)
    for i in range(start, tuples.shape[1]):
        slot = np.int64(_hash(tuples, i) & np.uint64(len(table) - 1))
        while table[slot] >= 0:
            same = True
            for c in range(k):
                if tuples[c, table[slot]] != tuples[c, i]:
                    same = False
                    break
            if same:
                break
            slot = (slot + 1) & (len(table) - 1)
        if table[slot] < 0:
            table[slot] = i


@kernel
def look_up(
    asked: NDArray[np.int64], tuples: NDArray[np.int64], table: NDArray[np.int64], places: NDArray[np.int64]
) -> None:
    """The places of some tuples in a hash table of others. IN asked[k, n], tuples, table. OUT places[n], -1: none."""
    k = len(tuples)
    for i in range(asked.shape[1]):
        slot = np.int64(_hash(asked, i) & np.uint64(len(table) - 1))
        places[i] = -1
        while table[slot] >= 0:
            same = True
            for c in range(k):
                if tuples[c, table[slot]] != asked[c, i]:
                    same = False
                    break
            if same:
                places[i] = table[slot]
                break
            slot = (slot + 1) & (len(table) - 1)
