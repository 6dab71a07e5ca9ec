"""Sparse results of Matrix: products, sums, multiples and slices against SciPy."""

import numpy as np
import pytest
import scipy.sparse as sp

import spargo


def random_matrix(rows, cols, density, dtype, seed, index=np.int32):
    """CSR with unsorted rows, duplicates, explicit zeros, an empty and a dense row."""
    rng = np.random.default_rng(seed)
    nnz = int(rows * cols * density)
    row = np.sort(np.concatenate([rng.integers(0, rows, nnz), np.full(cols, 3)]))
    row = row[row != 1]
    col = rng.permutation(row.size) % cols
    data = rng.normal(size=row.size)
    if np.dtype(dtype).kind == "c":
        data = data + 1j * rng.normal(size=row.size)
    data[::7] = 0
    offsets = np.searchsorted(row, np.arange(rows + 1)).astype(index)
    made = sp.csr_array((rows, cols), dtype=dtype)
    made.indptr, made.indices, made.data = offsets, col.astype(index), data.astype(dtype)
    return made


def same(got, expected):
    assert isinstance(got, spargo.Matrix)
    assert got.format == "csr"
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    made = got.to_scipy()
    assert made.indices.dtype == made.indptr.dtype
    expected = expected.tocsr().copy()
    expected.sum_duplicates()
    made.sum_duplicates()
    made.eliminate_zeros()  # SciPy's products and sums drop zeros
    expected.eliminate_zeros()
    assert np.array_equal(made.indptr, expected.indptr)
    assert np.array_equal(made.indices, expected.indices)
    tolerance = 1e-5 if expected.dtype in (np.float32, np.complex64) else 1e-12
    np.testing.assert_allclose(made.data, expected.data, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_products(dtype, index):
    a = random_matrix(60, 50, 0.1, dtype, 1, index)
    b = random_matrix(50, 80, 0.1, np.float64, 2)
    x, y = spargo.Matrix(a), spargo.Matrix(b)
    same(x @ y, a @ b)
    same(x @ b, a @ b)
    same(a @ y, a @ b)
    same(x @ x.T, a @ a.T)
    same(x.T @ spargo.Matrix(a.tocoo()), a.T @ a)
    same(x @ b.tocsc(), a @ b)


def test_products_have_sorted_rows_and_keep_zeros():
    a = sp.csr_array(np.array([[1.0, -1.0], [0.0, 2.0]]))
    b = sp.csr_array(np.array([[3.0, 1.0], [3.0, 0.0]]))
    made = (spargo.Matrix(a) @ b).to_scipy()
    assert made.indices.tolist() == [0, 1, 0]
    assert made.data.tolist() == [0.0, 1.0, 6.0]
    wide = spargo.Matrix(random_matrix(30, 40, 0.2, np.float64, 3)) @ random_matrix(40, 100000, 0.001, np.float64, 4)
    assert wide.to_scipy().has_sorted_indices


def test_products_do_not_depend_on_threads():
    a = spargo.Matrix("gen:rmat:scale=9,degree=8")
    with spargo.config(threads=1):
        one = a @ a
    with spargo.config(threads=4):
        four = a @ a
    assert np.array_equal(one.to_scipy().data, four.to_scipy().data)
    expected = a.to_scipy() @ a.to_scipy()
    same(one, expected)


def test_integers_of_scipy_take_part():
    a = sp.csr_array(np.array([[1, 2], [0, 3]]))
    same(spargo.Matrix(a, dtype=np.float64) @ a, (a @ a).astype(np.float64))
    same(spargo.Matrix(a, dtype=np.float32) + (a > 1), a.astype(np.float64) + (a > 1))


def test_sums_and_multiples():
    a = random_matrix(40, 30, 0.2, np.float64, 5)
    b = random_matrix(40, 30, 0.1, np.complex128, 6)
    x, y = spargo.Matrix(a), spargo.Matrix(b)

    def canonical_sum(p, q):
        made = sp.coo_array(
            (np.concatenate([p.tocoo().data, q.tocoo().data]), (np.concatenate([p.tocoo().row, q.tocoo().row]),
             np.concatenate([p.tocoo().col, q.tocoo().col]))), shape=p.shape)
        return made.tocsr()

    same(x + y, canonical_sum(a, b))
    same(x + b, canonical_sum(a, b))
    same(a + y, canonical_sum(a, b))
    same(x - y, canonical_sum(a, -1 * b))
    same(a - y, canonical_sum(a, -1 * b))
    same(2 * x, 2 * a)
    same(x * np.float64(2), 2 * a)
    same(x / 4, a / 4)
    same(-x, -1 * a)
    with pytest.raises(TypeError):
        x + 1
    with pytest.raises(TypeError):
        x * np.ones(3)


def test_slices():
    a = random_matrix(40, 30, 0.2, np.float64, 7)
    x = spargo.Matrix(a)
    dense = a.toarray()
    rng = np.random.default_rng(8)
    mask = rng.random(40) < 0.4
    rows, cols = [5, 3, -1, 3], np.array([29, 0, 7])
    for key in (slice(None), slice(3, 20), slice(20, 3), slice(None, None, -2), mask, rows, 3, -2, []):
        got = x[key].toarray()
        picked = np.atleast_2d(dense[key]) if not isinstance(key, list) or key else dense[np.array([], int)]
        assert np.array_equal(got, picked)
        for others in (slice(2, 9), slice(None), cols, slice(25, None, 3), 4):
            if isinstance(key, int) and isinstance(others, int):
                continue
            expected = picked[:, [others] if isinstance(others, int) else others]
            assert np.array_equal(x[key, others].toarray(), expected)
    assert x[3, 4] == pytest.approx(dense[3, 4])
    assert x[1, 0] == 0
    for wrong in (40, -41, [1, 40], mask[:-1], 0.5, "a", np.zeros((2, 2), int)):
        with pytest.raises(IndexError):
            x[wrong]


def test_what_does_not_fit_is_refused():
    x = spargo.Matrix(sp.eye_array(3, format="csr"))
    y = spargo.Matrix(sp.csr_array((4, 3)))
    with pytest.raises(spargo.Error, match=r"shapes \(3, 3\) and \(4, 3\)"):
        x @ y
    with pytest.raises(spargo.Error, match=r"shapes \(3, 3\) and \(4, 3\)"):
        x + y
