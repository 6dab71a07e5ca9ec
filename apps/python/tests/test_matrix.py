import copy
import pickle
import threading

import numpy as np
import pytest
import spargo
from conftest import INDICES, VALUES, address, random_matrix
from scipy import sparse
from scipy.sparse import linalg

SHAPES = [(0, 0), (0, 3), (3, 0), (1, 1), (31, 33), (257, 255), (40, 3000)]


def close(got, want, dtype):
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-5 if np.dtype(dtype).itemsize in (4,) or dtype == np.complex64 else 1e-12,
                               atol=1e-4 if dtype in (np.float32, np.complex64) else 1e-11)


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("shape", SHAPES)
def test_products_are_scipys(shape, form, index, dtype, rng):
    a = random_matrix(*shape, seed=3, dtype=dtype, index=index, form=form)
    m = spargo.Matrix(a)
    assert m.shape == shape and m.dtype == dtype and m.nnz == a.nnz and m.format == form
    x = rng.standard_normal(shape[1]).astype(dtype)
    xs = rng.standard_normal((shape[1], 5)).astype(dtype)
    y = rng.standard_normal(shape[0]).astype(dtype)
    dense = a.toarray()
    close(m @ x, dense @ x, dtype)
    close(m @ xs, dense @ xs, dtype)
    close(m.T @ y, dense.T @ y, dtype)
    close(y @ m, y @ dense, dtype)
    close(m.rmatvec(y), dense.conj().T @ y, dtype)
    close(m.toarray(), dense, dtype)


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("suffix", ["array", "matrix"])
def test_arrays_are_taken_without_a_copy(form, index, suffix):
    a = random_matrix(50, 60, seed=1, index=index, form=form)
    if suffix == "matrix":
        a = getattr(sparse, f"{form}_matrix")(a)
        if form == "coo":
            a.row, a.col = a.row.astype(index), a.col.astype(index)
        else:
            a.indices, a.indptr = a.indices.astype(index), a.indptr.astype(index)
    names = ("data", "row", "col") if form == "coo" else ("data", "indices", "indptr")
    back = spargo.Matrix(a).to_scipy()
    turned = spargo.Matrix(a).T.to_scipy()
    for name in names:
        assert address(getattr(back, name)) == address(getattr(a, name)), name
        assert getattr(back, name).dtype == getattr(a, name).dtype, name
    assert address(turned.data) == address(a.data)
    copied = spargo.Matrix(a, copy=True).to_scipy()
    assert all(address(getattr(copied, n)) != address(getattr(a, n)) for n in names)


def test_values_that_change_in_place_are_followed():
    a = random_matrix(60, 60, seed=2)
    m, x = spargo.Matrix(a), np.ones(60)
    before = m @ x
    a.data *= 2
    np.testing.assert_array_equal(m @ x, 2 * before)
    m.prepare()
    a.data *= 2
    m.update_values()
    np.testing.assert_array_equal(m @ x, 4 * before)
    m.update_values(a.data / 4)
    np.testing.assert_array_equal(m @ x, before)


@pytest.mark.parametrize("form", ["csc", "coo"])
def test_update_values_of_converted_formats(form):
    a = random_matrix(60, 40, seed=2, form=form)
    m, x = spargo.Matrix(a), np.ones(40)
    before = m @ x
    a.data *= 2
    m.update_values()
    np.testing.assert_allclose(m @ x, 2 * before)


def test_update_values_refuses_others():
    m = spargo.Matrix(random_matrix(10, 10, seed=2))
    with pytest.raises(spargo.Error, match="values of float64 are expected"):
        m.update_values(np.zeros(m.nnz + 1))
    with pytest.raises(spargo.Error):
        m.update_values(np.zeros(m.nnz, np.float32))


def test_types_of_results_are_numpys(rng):
    for have in VALUES:
        a = random_matrix(20, 30, seed=4, dtype=have)
        for x in (rng.random(30).astype(np.float32), rng.random(30), rng.random(30) * 1j, np.arange(30), np.ones(30, bool)):
            want = a.toarray() @ x
            got = spargo.Matrix(a) @ x
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-4)


def test_views_and_read_only_arrays(rng):
    a = random_matrix(30, 30, seed=5)
    want = a.toarray()
    for array in (a.data, a.indices, a.indptr):
        array.flags.writeable = False
    m = spargo.Matrix(a)
    x = rng.random((60, 4))
    x.flags.writeable = False
    np.testing.assert_allclose(m @ x[::2, 1], want @ x[::2, 1])
    np.testing.assert_allclose(m @ x[::-2, ::2], want @ x[::-2, ::2])
    np.testing.assert_allclose(m @ np.asfortranarray(x[:30]), want @ x[:30])
    np.testing.assert_allclose(m @ list(x[:30, 0]), want @ x[:30, 0])
    swapped = x[:30, 0].astype(">f8")
    np.testing.assert_allclose(m @ swapped, want @ x[:30, 0])
    strided = spargo.Matrix((np.repeat(a.data, 2)[::2], a.indices, a.indptr), shape=a.shape)
    np.testing.assert_allclose(strided @ x[:30], want @ x[:30])


def test_out():
    a = random_matrix(20, 30, seed=6)
    m, y = spargo.Matrix(a), np.full(20, np.nan)
    assert m.dot(np.ones(30), out=y) is y
    np.testing.assert_allclose(y, a @ np.ones(30))
    for bad in (np.zeros(19), np.zeros(20, np.float32), np.zeros(40)[::2]):
        with pytest.raises(spargo.Error, match="out must be"):
            m.dot(np.ones(30), out=bad)
    square = spargo.Matrix(random_matrix(20, 20, seed=6))
    x = np.ones(20)
    with pytest.raises(spargo.Error, match="overlap"):
        square.dot(x, out=x)


def test_duplicates_are_their_sum():
    a = sparse.coo_array(([1.0, 2, 4, 8], ([1, 1, 0, 1], [2, 2, 0, 2])), shape=(2, 3))
    np.testing.assert_array_equal(spargo.Matrix(a) @ np.ones(3), [4, 11])
    csr = spargo.Matrix((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 2))
    np.testing.assert_array_equal(csr @ np.array([5.0, 7.0]), [21])


@pytest.mark.parametrize("where", ["index", "offset", "first", "last", "negative"])
def test_arrays_that_are_no_matrix(where):
    a = random_matrix(20, 20, seed=8)
    data, indices, indptr = a.data.copy(), a.indices.copy(), a.indptr.copy()
    if where == "index":
        indices[3] = 20
    elif where == "negative":
        indices[3] = -1
    elif where == "offset":
        indptr[5] = indptr[6] + 1
    elif where == "first":
        indptr[0] = 1
    else:
        indptr[-1] += 1
    with pytest.raises(spargo.Error):
        spargo.Matrix((data, indices, indptr), shape=a.shape)
    if where in ("index", "negative"):
        with pytest.raises(spargo.Error):
            spargo.Matrix((data, (np.zeros_like(indices), indices)), shape=a.shape)


def test_wrong_shapes():
    m = spargo.Matrix(random_matrix(20, 30, seed=9))
    for x in (np.ones(20), np.ones((20, 2)), np.ones((30, 2, 2)), np.float64(3)):
        with pytest.raises(spargo.Error, match=r"20 x 30 .*expected \(30,\) or \(30, k\)"):
            m @ x
    with pytest.raises(spargo.Error):
        spargo.Matrix(np.ones(3))
    with pytest.raises(spargo.Error):
        spargo.Matrix((np.ones(3), np.zeros(2, int), np.array([0, 2])), shape=(1, 1))
    with pytest.raises(spargo.Error, match="shape"):
        spargo.Matrix((np.ones(3), np.zeros(3, int), np.array([0, 3])))
    with pytest.raises(spargo.Error):
        spargo.Matrix((np.ones(1), (np.zeros(1, int), np.zeros(2, int))), shape=(1, 1))


def test_what_is_not_done_is_said_at_once():
    a = random_matrix(20, 20, seed=10)
    m = spargo.Matrix(a)
    for call in (
        lambda: spargo.Matrix(a.astype(np.int64)),
        lambda: m @ np.ones(20, np.longdouble),
    ):
        with pytest.raises(NotImplementedError):
            call()
    with pytest.raises(ValueError, match="'auto', 'cpu'"):
        spargo.Matrix(a, device="tpu")
    assert spargo.Matrix(a.astype(np.int64), dtype=np.float32).dtype == np.float32


def test_pickle_copy_and_texts():
    for form in ("csr", "csc", "coo"):
        a = random_matrix(20, 30, seed=11, form=form)
        m, x = spargo.Matrix(a), np.ones(30)
        want = m @ x
        for other in (pickle.loads(pickle.dumps(m)), copy.copy(m), copy.deepcopy(m)):
            np.testing.assert_array_equal(other @ x, want)
        assert address(copy.copy(m).to_scipy().data) == address(a.data)
        assert address(copy.deepcopy(m).to_scipy().data) != address(a.data)
        assert "20 x 30" in repr(m) and form in repr(m) and "float64" in str(m)
        assert m._repr_html_().count("<rect") > 10
    assert "row_per_thread" in m.plan_reason or "merge_path" in m.plan_reason
    for shape in SHAPES:
        spargo.Matrix(random_matrix(*shape, seed=1))._repr_html_()


def test_solvers_of_scipy(rng):
    a = spargo.generate("gen:laplacian2d:n=20").tocsr()
    b = rng.random(400)
    want = linalg.spsolve(a.tocsc(), b)
    for operator in (spargo.aslinearoperator(a), spargo.Matrix(a), linalg.aslinearoperator(spargo.Matrix(a))):
        got, failed = linalg.cg(operator, b, rtol=1e-12)
        assert failed == 0
        np.testing.assert_allclose(got, want, rtol=1e-8)
    rectangular = random_matrix(40, 20, seed=12, dtype=np.complex128)
    operator, reference = spargo.aslinearoperator(rectangular), linalg.aslinearoperator(rectangular)
    x, y = rng.random(20) + 1j, rng.random(40) - 2j
    np.testing.assert_allclose(operator @ x, reference @ x)
    np.testing.assert_allclose(operator.H @ y, reference.H @ y)
    np.testing.assert_allclose(operator.T @ y, reference.T @ y)
    np.testing.assert_allclose(operator.matmat(np.eye(20)), rectangular.toarray())
    np.testing.assert_allclose(linalg.lsqr(operator, y)[0], linalg.lsqr(reference, y)[0])


def test_threads_share_a_matrix(rng):
    a = random_matrix(500, 500, seed=13)
    m = spargo.Matrix(a)
    xs = rng.random((8, 500))
    want = [a @ x for x in xs]
    wrong = []

    def multiply(x, y):
        for _ in range(200):
            if not np.allclose(m @ x, y):
                wrong.append(1)

    threads = [threading.Thread(target=multiply, args=pair) for pair in zip(xs, want)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_threads_are_those_of_the_block():
    m, x = spargo.Matrix(random_matrix(300, 300, seed=14)), np.ones(300)
    want = m @ x
    for threads in (1, 2, 5):
        with spargo.config(threads=threads):
            np.testing.assert_array_equal(m @ x, want)
