"""What the tests share. Oracles are NumPy, SciPy and networkx, or a few naive lines. What needs a GPU skips visibly where
there is none, and fails under SPARGO_REQUIRE_GPU=1."""

import os

import numpy as np
import pytest
import spargo
from gpu_libraries import CuPy, Torch
from scipy import sparse
from spargo import _core

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


def close(got, want, dtype):
    assert got.dtype == want.dtype and got.shape == want.shape
    single = dtype in (np.float32, np.complex64)
    np.testing.assert_allclose(got, want, rtol=1e-5 if single else 1e-12, atol=1e-4 if single else 1e-11)


def lacking(reason):
    (pytest.fail if os.environ.get("SPARGO_REQUIRE_GPU") == "1" else pytest.skip)(reason)


@pytest.fixture(scope="session")
def gpu():
    if len(spargo.devices()) < 2:
        lacking(f"no GPU: {_core.cuda_reason()}")
    return spargo.devices()[1].name


@pytest.fixture(params=["cupy", "torch"], scope="session")
def xp(request, gpu):
    """A library with arrays on a GPU."""
    try:
        return CuPy() if request.param == "cupy" else Torch()
    except ImportError as e:
        return lacking(str(e))
