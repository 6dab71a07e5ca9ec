"""What the tests share. Oracles are NumPy, SciPy and networkx, or a few naive lines."""

import numpy as np
import pytest
from scipy import sparse

VALUES = [np.float32, np.float64, np.complex64, np.complex128]
INDICES = [np.int32, np.int64]


def random_matrix(rows, cols, seed, dtype=np.float64, index=np.int32, density=0.1, form="csr"):
    """Made by hand, since SciPy narrows int64 indices."""
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((rows, cols)) < density, rng.standard_normal((rows, cols)), 0).astype(dtype)
    if np.dtype(dtype).kind == "c":
        dense = dense * dtype(1 - 2j)
    a = sparse.csr_array(dense).asformat(form)
    if form == "coo":
        a.row, a.col = a.row.astype(index), a.col.astype(index)
    else:
        a.indices, a.indptr = a.indices.astype(index), a.indptr.astype(index)
    return a


def address(a):
    return a.__array_interface__["data"][0]


@pytest.fixture
def rng():
    return np.random.default_rng(7)
