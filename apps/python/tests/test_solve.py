"""Linear systems; the oracle is NumPy's dense solver."""

import numpy as np
import pytest
import spargo
from conftest import VALUES, random_matrix
from scipy import sparse


def system(dtype, definite=True, n=60):
    a = random_matrix(n, n, seed=21, dtype=dtype)
    if definite:
        a = a @ a.conj().T + sparse.identity(n, dtype=dtype)
    else:
        a = a + 4 * sparse.identity(n, dtype=dtype)
    a = sparse.csr_array(a).astype(dtype)
    rng = np.random.default_rng(22)
    b = rng.standard_normal(n).astype(dtype)
    return a, b * dtype(1 - 0.5j) if np.dtype(dtype).kind == "c" else b


@pytest.mark.parametrize("dtype", VALUES)
def test_conjugate_gradients(dtype):
    a, b = system(dtype)
    single = dtype in (np.float32, np.complex64)
    kept = b.copy()
    found = spargo.solve(a, b, tolerance=1e-4 if single else 1e-12)
    assert found.converged and 0 < found.iterations and found.x.dtype == dtype and (b == kept).all()
    want = np.linalg.solve(a.toarray(), b)
    assert np.linalg.norm(found.x - want) < (1e-2 if single else 1e-9) * np.linalg.norm(want)
    assert found.residual == pytest.approx(np.linalg.norm(b - a @ found.x) / np.linalg.norm(b), rel=0.5)
    again = spargo.solve(spargo.Matrix(a), b, guess=found.x, tolerance=1e-3 if single else 1e-11)
    assert again.converged and again.iterations <= 1
    assert not spargo.solve(a, b, max_iterations=1, tolerance=1e-14).converged


@pytest.mark.parametrize("method", ["minres", "bicgstab", "gmres"])
def test_scipys_methods(method):
    a, b = system(np.float64, definite=method == "minres")
    found = spargo.solve(spargo.Matrix(a), b, method=method, tolerance=1e-10, max_iterations=2000)
    assert found.converged and found.iterations > 0
    np.testing.assert_allclose(found.x, np.linalg.solve(a.toarray(), b), rtol=1e-5, atol=1e-6)


def test_ends_of_the_range():
    a = spargo.Matrix("gen:laplacian2d:n=5")
    nothing = spargo.solve(a, np.zeros(25))
    assert nothing.converged and nothing.iterations == 0 and nothing.residual == 0 and (nothing.x == 0).all()
    assert spargo.solve(a, np.arange(25)).x.dtype == np.float64  # integers become what products are
    empty = spargo.solve(sparse.csr_array((0, 0)), np.empty(0))
    assert empty.converged and empty.x.shape == (0,)
    exact = spargo.solve(sparse.identity(4, format="csr"), np.ones(4))
    assert exact.iterations == 1 and exact.residual == 0


def test_what_is_refused():
    a = spargo.Matrix("gen:laplacian2d:n=5")
    for bad in (np.ones(24), np.ones((25, 1)), 1.0):
        with pytest.raises(spargo.Error, match="a matrix of 25 x 25 and a vector of shape"):
            spargo.solve(a, bad)
    with pytest.raises(spargo.Error, match="4 x 5"):
        spargo.solve(random_matrix(4, 5, seed=1), np.ones(4))
    with pytest.raises(spargo.Error):
        spargo.solve(a, np.ones(25), guess=np.ones(24))
    with pytest.raises(ValueError, match="method is 'lu'"):
        spargo.solve(a, np.ones(25), method="lu")
    with pytest.raises(spargo.Error, match="NaN"):
        spargo.solve(a, np.full(25, np.nan))
    for indefinite in (-sparse.identity(5, format="csr"), sparse.csr_array((5, 5))):
        with pytest.raises(spargo.Error, match="not positive definite"):
            spargo.solve(indefinite, np.ones(5))


def test_on_a_gpu(xp):
    a = spargo.Matrix("gen:laplacian2d:n=20")
    m, b = spargo.Matrix("gen:laplacian2d:n=20", device="cuda"), xp.to(np.ones(400))
    found = spargo.solve(m, b, tolerance=1e-12)
    assert found.converged and isinstance(found.x, xp.type)
    want = spargo.solve(a, np.ones(400), tolerance=1e-12)
    np.testing.assert_allclose(xp.back(found.x), want.x, rtol=1e-9)
    assert abs(found.iterations - want.iterations) <= 1
    np.testing.assert_allclose(spargo.solve(m, np.ones(400), tolerance=1e-12).x, want.x, rtol=1e-9)
    assert spargo.solve(m, b, guess=found.x, tolerance=1e-10).iterations <= 1
    with pytest.raises(spargo.UnsupportedError, match="cg has them"):
        spargo.solve(m, b, method="gmres")
    with pytest.raises(spargo.UnsupportedError, match="converts"):
        spargo.solve(m, xp.to(np.ones(400, complex)))
