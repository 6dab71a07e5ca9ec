"""Matrices on a GPU, beside those on the CPU and NumPy."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import spargo
from conftest import INDICES, VALUES, close, random_matrix
from gpu_libraries import CuPy

SHAPES = [(0, 0), (0, 3), (3, 0), (1, 1), (31, 33), (257, 255), (40, 3000)]


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("shape", SHAPES)
def test_products_of_numpys_vectors(gpu, shape, form, index, dtype, rng):
    a = random_matrix(*shape, seed=3, dtype=dtype, index=index, form=form)
    m = spargo.Matrix(a, device="cuda")
    assert m.shape == shape and m.dtype == dtype and m.nnz == a.nnz and m.format == form and m.device == gpu
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
    assert m.to_scipy().format == form


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("shape", SHAPES)
def test_products_of_device_vectors(xp, shape, dtype, rng):
    a = random_matrix(*shape, seed=4, dtype=dtype)
    m = spargo.Matrix(a, device="cuda")
    dense = a.toarray()
    for x in (rng.standard_normal(shape[1]), rng.standard_normal((shape[1], 1)), rng.standard_normal((shape[1], 6))):
        x = x.astype(dtype)
        y = m @ xp.to(x)
        assert isinstance(y, xp.type)
        close(xp.back(y), dense @ x, dtype)
    y = rng.standard_normal((4, shape[0])).astype(dtype)
    close(xp.back(xp.to(y) @ m), y @ dense, dtype)
    close(xp.back(xp.to(y[0]) @ m), y[0] @ dense, dtype)
    close(xp.back(m.rmatvec(xp.to(y[1]))), dense.conj().T @ y[1], dtype)


def test_views_and_other_types(xp, rng):
    a = random_matrix(30, 30, seed=5)
    m, want = spargo.Matrix(a, device="cuda"), a.toarray()
    x = rng.random((60, 4))
    there = xp.to(x)
    for here, view in ((x[::2, 1], there[::2, 1]), (x[::2, ::2], there[::2, ::2]), (x[7:37, 0], there[7:37, 0])):
        np.testing.assert_allclose(xp.back(m @ view), want @ here, rtol=1e-12)
    np.testing.assert_allclose(xp.back(m @ xp.to(x[:30, 0].astype(np.float32))), want @ x[:30, 0].astype(np.float32), rtol=1e-12)
    np.testing.assert_allclose(xp.back(m @ xp.to(np.arange(30))), want @ np.arange(30), rtol=1e-12)
    odd = xp.to(np.arange(31.0))[1:]  # not on 16 bytes
    np.testing.assert_allclose(xp.back(m @ odd), want @ np.arange(1.0, 31), rtol=1e-12)


def test_conjugates_that_are_not_made_yet(xp, rng):
    a = random_matrix(30, 30, seed=5, dtype=np.complex128)
    x = rng.random(30) + 1j * rng.random(30)
    m, there = spargo.Matrix(a, device="cuda"), xp.to(x).conj()
    np.testing.assert_allclose(xp.back(m @ there), a @ x.conj(), rtol=1e-12)
    np.testing.assert_allclose(xp.back(m @ there.imag), a @ -x.imag, rtol=1e-12)  # PyTorch negates later


def test_nothing_is_copied(xp, rng):
    for form in ("csr", "csc"):
        a = random_matrix(300, 200, seed=6, form=form)
        their, parts = xp.matrix(a)
        for m in (spargo.Matrix(their), spargo.Matrix(parts, shape=a.shape) if form == "csr" else spargo.Matrix(their)):
            held = (m._values, m._second, m._first)
            assert m.device == "cuda:0" and m.format == form
            assert [v.address for v in held] == [xp.address(p) for p in parts]
            x = xp.to(rng.random(200))
            np.testing.assert_allclose(xp.back(m @ x), a @ xp.back(x), rtol=1e-12)
        copied = spargo.Matrix(their, copy=True)
        assert copied._values.address != xp.address(parts[0])
        np.testing.assert_allclose(xp.back(copied @ x), a @ xp.back(x), rtol=1e-12)
    out = xp.to(np.full(300, np.nan))
    where = xp.address(out)
    assert m.dot(x, out=out) is out and xp.address(out) == where
    np.testing.assert_allclose(xp.back(out), a @ xp.back(x), rtol=1e-12)


def test_arrays_outlive_their_names(xp):
    a = random_matrix(300, 200, seed=6)
    m = spargo.Matrix(xp.matrix(a)[0])
    rubbish = [xp.to(np.full(a.nnz, np.nan)) for _ in range(20)]
    np.testing.assert_allclose(xp.back(m @ xp.to(np.ones(200))), a @ np.ones(200), rtol=1e-12)
    del rubbish


def test_coordinates(xp):
    a = random_matrix(60, 50, seed=7, form="coo")
    m = spargo.Matrix((xp.to(a.data), (xp.to(a.row), xp.to(a.col.astype(np.int64)))), shape=a.shape)
    assert m.format == "coo" and m.device == "cuda:0" and m._first.dtype == m._second.dtype == np.int64
    np.testing.assert_allclose(xp.back(m @ xp.to(np.ones(50))), a @ np.ones(50), rtol=1e-12)
    a = a.tocsr()
    for wide in ("indices", "indptr"):
        parts = {name: getattr(a, name).astype(np.int64 if name == wide else np.int32) for name in ("indices", "indptr")}
        m = spargo.Matrix((xp.to(a.data), xp.to(parts["indices"]), xp.to(parts["indptr"])), shape=a.shape)
        assert m._first.dtype == np.int64 and m._second.dtype == parts["indices"].dtype  # nothing is narrowed
        np.testing.assert_allclose(xp.back(m @ xp.to(np.ones(50))), a @ np.ones(50), rtol=1e-12)


def test_values_that_change(xp):
    a = random_matrix(60, 60, seed=2)
    their, parts = xp.matrix(a)
    m, x = spargo.Matrix(their), xp.to(np.ones(60))
    want = a @ np.ones(60)
    parts[0][:] = parts[0] * 2
    np.testing.assert_allclose(xp.back(m @ x), 2 * want, rtol=1e-12)
    m.prepare()
    m.update_values(parts[0] * 2)
    np.testing.assert_allclose(xp.back(m @ x), 4 * want, rtol=1e-12)
    m.update_values(a.data)  # NumPy's are uploaded
    np.testing.assert_allclose(xp.back(m @ x), want, rtol=1e-12)
    for dtype in (np.float32, np.float64):
        assert spargo.Matrix(m, dtype=dtype).dtype == dtype
    turned = m.T
    turned.update_values(parts[0])
    np.testing.assert_allclose(xp.back(turned @ x), 2 * (a.T @ np.ones(60)), rtol=1e-12)
    with pytest.raises(spargo.Error, match="values of float64 are expected"):
        m.update_values(parts[0][:-1])


def test_what_is_refused(xp):
    a = random_matrix(20, 30, seed=9)
    m, x = spargo.Matrix(a, device="cuda"), xp.to(np.ones(30))
    for bad in (np.ones(20), np.ones((20, 2)), np.ones((30, 2, 2))):
        for there in (bad, xp.to(bad)):
            with pytest.raises(spargo.Error, match="20 x 30"):
                m @ there
    for bad in (np.zeros(19), np.zeros(20, np.float32), np.zeros(40)[::2], np.zeros((20, 1))):
        with pytest.raises(spargo.Error, match="out must be"):
            m.dot(x, out=xp.to(bad) if bad.size != 20 or bad.dtype != float or bad.ndim > 1 else xp.to(np.zeros(40))[::2])
    with pytest.raises(spargo.Error, match="out must be"):
        m.dot(x, out=np.zeros(20))
    with pytest.raises(spargo.UnsupportedError, match="converts"):
        m @ xp.to(np.ones(30, complex))
    with pytest.raises(spargo.UnsupportedError, match="converts"):
        m @ np.ones(30, complex)
    with pytest.raises(spargo.Error, match="the matrix on cpu"):
        spargo.Matrix(a) @ x
    square = spargo.Matrix(random_matrix(30, 30, seed=9), device="cuda")
    with pytest.raises(spargo.Error, match="overlap"):
        square.dot(x, out=x)
    with pytest.raises(spargo.UnsupportedError, match="float16|bool|int64"):
        spargo.Matrix((xp.to(np.ones(3, np.int64)), xp.to(np.zeros(3, int)), xp.to(np.array([0, 3]))), shape=(1, 1))
    with pytest.raises(spargo.UnsupportedError):
        m @ m


@pytest.mark.parametrize("where", ["index", "offset", "last", "negative"])
def test_arrays_that_are_no_matrix(xp, where):
    a = random_matrix(20, 20, seed=8)
    data, indices, indptr = a.data.copy(), a.indices.copy(), a.indptr.copy()
    if where == "index":
        indices[3] = 20
    elif where == "negative":
        indices[3] = -1
    elif where == "offset":
        indptr[5] = indptr[6] + 1
    else:
        indptr[-1] += 1
    with pytest.raises(spargo.Error):
        spargo.Matrix((xp.to(data), xp.to(indices), xp.to(indptr)), shape=a.shape)


def test_there_and_back(xp):
    a = random_matrix(50, 40, seed=11)
    their, _ = xp.matrix(a)
    there = spargo.Matrix(their)
    for m in (there, spargo.Matrix(there), spargo.Matrix(spargo.Matrix(a), device="cuda"), pickle.loads(pickle.dumps(there))):
        assert m.device == "cuda:0" and "on cuda:0" in repr(m) and "<rect" in m._repr_html_()
        np.testing.assert_array_equal(m.to_scipy().toarray(), a.toarray())
    for m in (spargo.Matrix(there, device="cpu"), spargo.Matrix(their, device="cpu")):
        assert m.device == "cpu"
        np.testing.assert_array_equal(m @ np.ones(40), spargo.Matrix(a) @ np.ones(40))
    with spargo.config(device="cuda"):
        assert spargo.Matrix(a).device == "cuda:0" and spargo.Matrix(a, device="cpu").device == "cpu"
        assert spargo.Matrix("gen:laplacian2d:n=5").device == "cuda:0"
    assert "row_per" in there.plan_reason or "merge_path" in there.plan_reason


def test_neither_cupy_nor_pytorch_is_needed(gpu):
    program = """
import sys
sys.modules["cupy"] = sys.modules["torch"] = None
import numpy as np, pickle, spargo
a = spargo.generate("gen:laplacian2d:n=20").tocsr()
m = spargo.Matrix(a, device="cuda")
for other in (m, spargo.Matrix(m), spargo.Matrix(m, copy=True), pickle.loads(pickle.dumps(m))):
    assert other.device == "cuda:0" and np.allclose(other @ np.ones(400), a @ np.ones(400))
assert spargo.Matrix(m, dtype=np.float32).dtype == np.float32
m.update_values(a.data * 2)
assert np.allclose(m.T @ np.ones(400), 2 * (a @ np.ones(400)))
g = spargo.Graph.from_scipy(m)
assert g.device == "cuda:0" and g.bfs(0).reached == 400 and g.pagerank().converged
assert (g.weights == 2 * a.data).all()
try:
    spargo.config(arrays="cupy").__enter__()
    g.bfs(0)
except ImportError:
    print("as expected")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "as expected\n", done.stderr


def test_solvers(xp):
    a = spargo.generate("gen:laplacian2d:n=20").tocsr()
    m = spargo.Matrix(a, device="cuda")
    from scipy.sparse.linalg import cg

    x, failed = cg(spargo.aslinearoperator(m), np.ones(400), rtol=1e-12)
    assert failed == 0
    np.testing.assert_allclose(a @ x, np.ones(400), rtol=1e-8)
    if isinstance(xp, CuPy):
        import cupyx.scipy.sparse.linalg as linalg

        operator = linalg.LinearOperator(a.shape, matvec=m.dot, dtype=np.float64)
        x, failed = linalg.cg(operator, xp.to(np.ones(400)), rtol=1e-12)
        assert failed == 0
        np.testing.assert_allclose(a @ xp.back(x), np.ones(400), rtol=1e-8)
