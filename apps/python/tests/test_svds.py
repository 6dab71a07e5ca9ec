"""Singular values; the oracle is NumPy's dense decomposition."""

import numpy as np
import pytest
import spargo
from conftest import VALUES, random_matrix
from scipy import sparse


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("shape", [(90, 60), (60, 90), (70, 70), (1, 9), (9, 1)])
def test_values_and_vectors_are_numpys(dtype, shape):
    a = random_matrix(*shape, seed=31, dtype=dtype)
    k = min(5, *shape)
    u, s, vh = spargo.svds(spargo.Matrix(a), k)
    dense = a.toarray().astype(np.result_type(dtype, np.float32))
    want = np.linalg.svd(dense.astype(np.result_type(dtype, np.float64)), compute_uv=False)
    single = np.dtype(dtype) in (np.float32, np.complex64)
    near = (1e-4 if single else 1e-10) * max(want[0], 1e-30)
    assert u.shape == (shape[0], k) and vh.shape == (k, shape[1])
    assert s.dtype == (np.float32 if single else np.float64) and u.dtype == vh.dtype == spargo.Matrix(a).dtype
    np.testing.assert_allclose(s, want[:k], atol=near)
    np.testing.assert_allclose(dense @ vh.conj().T, u * s, atol=near)
    np.testing.assert_allclose(u.conj().T @ dense, s[:, None] * vh, atol=near)
    for vectors in (u.conj().T @ u, vh @ vh.conj().T):
        np.testing.assert_allclose(vectors, np.eye(k), atol=1e-4 if single else 1e-10)


def test_all_values_are_found():
    a = random_matrix(20, 31, seed=5, dtype=np.float64)
    u, s, vh = spargo.svds(a, 20)
    np.testing.assert_allclose(s, np.linalg.svd(a.toarray(), compute_uv=False), atol=1e-12)
    np.testing.assert_allclose((u * s) @ vh, a.toarray(), atol=1e-12)


def test_matrices_without_full_rank():
    rng = np.random.default_rng(8)
    a = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 25))
    for given in (a, a.T):
        for none in (False, np.False_, 0):
            s = spargo.svds(given, 6, return_singular_vectors=none)
        np.testing.assert_allclose(s, np.linalg.svd(given, compute_uv=False)[:6], atol=1e-12 * s[0])
    u, s, vh = spargo.svds(sparse.csr_array((5, 4)), 4)
    assert (s == 0).all()
    np.testing.assert_allclose(u.T @ u, np.eye(4), atol=1e-14)
    np.testing.assert_allclose(vh @ vh.T, np.eye(4), atol=1e-14)


def test_what_is_returned_is_scipys():
    from scipy.sparse import linalg

    a = random_matrix(50, 40, seed=6, dtype=np.complex128)
    for part in (True, False, "u", "vh"):
        ours = spargo.svds(a, 4, return_singular_vectors=part)
        theirs = linalg.svds(a, 4, return_singular_vectors=part)
        if part is False:
            np.testing.assert_allclose(ours, np.sort(theirs)[::-1], rtol=1e-10)
            continue
        np.testing.assert_allclose(ours[1], np.sort(theirs[1])[::-1], rtol=1e-10)
        for mine, its in zip(ours, theirs):
            assert mine is None or mine.shape == its.shape
    assert spargo.svds(a, 4, return_singular_vectors="u")[2] is None
    assert spargo.svds(a, 4, return_singular_vectors="vh")[0] is None


def test_integers_become_float64():
    counts = np.random.default_rng(3).integers(-3, 4, (9, 7))
    for a in (counts, counts.astype(np.int8), sparse.csc_array(counts), counts > 0):
        s = spargo.svds(a, 3, return_singular_vectors=False)
        np.testing.assert_allclose(s, np.linalg.svd(np.asarray(a.toarray() if sparse.issparse(a) else a, float))[1][:3])
    with pytest.warns(spargo.InputWarning, match="svds: the matrix has integers beyond 2.53, which float64 rounds"):
        spargo.svds(np.array([[2**53 + 1]]), 1)


def test_what_is_refused():
    a = spargo.Matrix("gen:laplacian2d:n=5")
    with pytest.raises(spargo.Error, match="26 singular values of a matrix of 25 x 25"):
        spargo.svds(a, 26)
    for bad in ({"k": 0}, {"tol": -1.0}, {"tol": np.nan}):
        with pytest.raises((spargo.Error, ValueError)):
            spargo.svds(a, **bad)
    with pytest.raises(ValueError, match="which is 'SM'"):
        spargo.svds(a, which="SM")
    with pytest.raises(ValueError, match="return_singular_vectors is 'v'"):
        spargo.svds(a, return_singular_vectors="v")
    with pytest.raises(spargo.Error, match=r"row 0 \(from 0\) that is infinite or NaN"):
        spargo.svds(np.array([[np.nan, 1.0]]), 1)
    with pytest.raises(spargo.Error, match="not converged after .* products: residuals up to .*raise max_products"):
        spargo.svds("gen:laplacian2d:n=40", 4, max_products=10)
