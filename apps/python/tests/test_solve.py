"""Linear systems; the oracle is NumPy's dense solver."""

import json
import os
import pathlib
import subprocess
import warnings

import numpy as np
import pytest
import spargo
from conftest import VALUES, random_matrix
from scipy import sparse

pytestmark = pytest.mark.filterwarnings("ignore::spargo.ConvergenceWarning")


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
    assert found.method == "cg"
    want = np.linalg.solve(a.toarray(), b)
    assert np.linalg.norm(found.x - want) < (1e-2 if single else 1e-9) * np.linalg.norm(want)
    assert found.residual == pytest.approx(np.linalg.norm(b - a @ found.x) / np.linalg.norm(b), rel=0.5)
    again = spargo.solve(spargo.Matrix(a), b, guess=found.x, tolerance=1e-3 if single else 1e-11)
    assert again.converged and again.iterations <= 1
    assert not spargo.solve(a, b, max_iterations=1, tolerance=1e-14).converged


@pytest.mark.parametrize("method", ["minres", "bicgstab", "gmres"])
def test_other_methods(method):
    a, b = system(np.float64, definite=method == "minres")
    found = spargo.solve(spargo.Matrix(a), b, method=method, tolerance=1e-10, max_iterations=2000)
    assert found.converged and found.iterations > 0
    np.testing.assert_allclose(found.x, np.linalg.solve(a.toarray(), b), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("method", ["cg", "bicgstab", "gmres"])  # minres stops by another measure
def test_iterations_are_scipys(method):
    from scipy.sparse import linalg

    a = spargo.generate("gen:laplacian2d:n=40").tocsr()
    b = np.random.default_rng(3).standard_normal(1600)
    counts = []
    options = {"restart": 50, "callback_type": "pr_norm"} if method == "gmres" else {}
    getattr(linalg, method)(a, b, maxiter=900, callback=lambda _: counts.append(1), **options)
    for preconditioner in ("none", "jacobi"):  # a constant diagonal
        found = spargo.solve(a, b, method=method, preconditioner=preconditioner, tolerance=1e-5)
        assert found.converged and abs(found.iterations - len(counts)) <= max(5, 0.1 * len(counts))
    if method == "cg":  # whose residuals are at least those of minres
        assert spargo.solve(a, b, method="minres", tolerance=1e-5).iterations <= found.iterations


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_preconditioners_save_iterations(dtype):
    from scipy.sparse.linalg import spsolve

    a = spargo.generate("gen:laplacian2d:n=40").tocsr().astype(dtype)
    b = np.random.default_rng(3).standard_normal(1600).astype(dtype)
    exact = spsolve(a.astype(np.complex128).tocsc(), b)
    counts = {}
    for name in ("jacobi", "block-jacobi", "ilu0", "ic0"):
        found = spargo.solve(a, b, preconditioner=name, tolerance=1e-5, block_size=20)
        assert found.converged and found.x.dtype == dtype
        np.testing.assert_allclose(found.x, exact, atol=2e-2)
        counts[name] = found.iterations
    assert counts["ilu0"] <= counts["ic0"] + 1 <= counts["block-jacobi"] <= counts["jacobi"]
    assert spargo.solve(a, b, method="gmres", preconditioner="ilu0", tolerance=1e-5).converged


def test_restart_is_the_number_of_vectors_of_gmres():
    from scipy.sparse import linalg

    a = spargo.generate("gen:laplacian2d:n=30").tocsr()
    a = sparse.csr_array(a + sparse.diags_array([0.02, -0.02], offsets=[1, -1], shape=a.shape))  # not symmetric
    b = np.random.default_rng(3).standard_normal(900)
    found = {}
    for restart in (5, 20, 200):
        counts = []
        linalg.gmres(a, b, rtol=1e-6, restart=restart, maxiter=900, callback=lambda _: counts.append(1), callback_type="pr_norm")
        ours = spargo.solve(a, b, method="gmres", preconditioner="none", tolerance=1e-6, restart=restart)
        assert ours.converged and abs(ours.iterations - len(counts)) <= max(2, 0.02 * len(counts))
        found[restart] = ours.iterations
    assert found[5] > 1.2 * found[20] > 1.2 * found[200]
    default = spargo.solve(a, b, method="gmres", preconditioner="none", tolerance=1e-6)
    fifty = spargo.solve(a, b, method="gmres", preconditioner="none", tolerance=1e-6, restart=50)
    assert default.iterations == fifty.iterations and (default.x == fifty.x).all()
    assert spargo.solve(np.eye(3), np.ones(3), method="gmres", restart=10**15).converged  # no more than rows


@pytest.mark.parametrize("name", ["ilu0", "ic0"])
def test_triangular_sweeps_approximate_the_factors(name):
    a = spargo.generate("gen:laplacian2d:n=30").tocsr()
    b = np.random.default_rng(3).standard_normal(900)
    counts = [spargo.solve(a, b, preconditioner=name, triangular_sweeps=k).iterations for k in (0, 1, 3, 100)]
    assert counts[1] > counts[2] > counts[0] == counts[3]  # 59 levels: as many sweeps solve
    x = spargo.solve(a, b, preconditioner=name, triangular_sweeps=2, tolerance=1e-12).x
    np.testing.assert_allclose(a @ x, b, atol=1e-9)


@pytest.mark.parametrize(
    "option, message",
    [
        ({"restart": 0}, r"solve: restart is 0 \(expected 1 or more\)"),
        ({"restart": -3}, r"solve: restart is -3 \(expected 1 or more\)"),
        ({"restart": 2**63}, r"solve: restart is 9223372036854775808 \(expected an integer of 64 bits\)"),
        ({"triangular_sweeps": -1}, r"solve: triangular_sweeps is -1 \(expected 0 or more\)"),
        ({"triangular_sweeps": 1001}, r"solve: 1001 triangular sweeps \(expected 0 to 1000; 0 solves exactly\)"),
    ],
)
def test_options_out_of_range(option, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        spargo.solve(np.eye(3), np.ones(3), **option)
    with pytest.raises(TypeError):
        spargo.solve(np.eye(3), np.ones(3), **{name: "many" for name in option})


def saddle(n=12):
    """Symmetric, indefinite, with zeros on the diagonal."""
    b = random_matrix(n, n // 2, seed=3, density=0.5).toarray()
    return np.block([[np.diag(np.arange(1.0, n + 1)), b], [b.T, np.zeros((n // 2, n // 2))]])


HIDDEN = np.array([[1.0, 3.0, 0.0], [3.0, 1.0, 0.0], [0.0, 0.0, 2.0]])  # a positive diagonal, and the eigenvalue -2
TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])
HERMITIAN = np.array([[2, 1j], [-1j, 2]])
KINDS = {
    "definite": (np.array([[4.0, 1.0], [1.0, 3.0]]), {"cg"}),
    "hermitian": (HERMITIAN, {"cg"}),
    "hidden": (HIDDEN, {"minres"}),
    "negative": (-np.diag([1.0, 2.0, 3.0]), {"minres"}),
    "saddle": (saddle(), {"minres"}),
    "complex symmetric": (np.array([[2, 1j], [1j, 2]]), {"bicgstab", "gmres"}),
    "nonsymmetric": (np.array([[3.0, 1.0], [0.0, 2.0]]), {"bicgstab", "gmres"}),
    "turn": (TURN, {"gmres"}),  # bicgstab divides by 0
    "pattern": (np.array([[2.0, 0.0, 1.0], [1.0, 2.0, 0.0], [0.0, 1.0, 2.0]]), {"bicgstab", "gmres"}),
    "one": (np.array([[-7.0]]), {"minres"}),
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.filterwarnings("error")
def test_the_matrix_decides_on_the_method(name, form):
    a, methods = KINDS[name]
    b = a @ np.arange(1.0, len(a) + 1) + (1 if name == "hidden" else 0)
    found = spargo.solve(sparse.coo_array(a).asformat(form), b, tolerance=1e-10)
    assert found.converged and found.method in methods
    np.testing.assert_allclose(found.x, np.linalg.solve(a, b), rtol=1e-7, atol=1e-7)
    if methods & {"bicgstab", "gmres", "minres"}:  # cg says so, or cannot
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                assert spargo.solve(a, b, method="cg", tolerance=1e-10).method == "cg"
            except spargo.Error as e:
                assert "not positive definite" in str(e)


def test_entries_that_repeat_are_symmetric_by_their_sums():
    a = sparse.coo_array(([4.0, 0.5, 0.5, 1.0, 3.0, 1.0], ([0, 0, 0, 2, 2, 1], [0, 2, 2, 0, 2, 1])), shape=(3, 3))
    rows = sparse.csr_array(([0.5, 4.0, 0.5, 1.0, 3.0, 1.0], [2, 0, 2, 1, 2, 0], [0, 3, 4, 6]), shape=(3, 3))
    for form in (a, rows, sparse.csc_array(rows.T)):
        assert (form.toarray() == a.toarray()).all() and form.nnz == 6
        found = spargo.solve(form, np.ones(3))
        assert found.method == "cg" and np.allclose(found.x, np.linalg.solve(a.toarray(), np.ones(3)))
    product = sparse.random_array((40, 30), density=0.2, rng=1)
    product = (product @ product.T + sparse.eye_array(40)).tocsr()[::-1, ::-1]
    product.indices[: product.indptr[1]] = product.indices[: product.indptr[1]][::-1].copy()  # unsorted
    product.data[: product.indptr[1]] = product.data[: product.indptr[1]][::-1].copy()
    assert spargo.solve(product, np.ones(40)).method == "cg"
    values = [spargo.spectral_embedding(form, 1, normalized=False).values for form in (rows, rows.toarray())]
    np.testing.assert_allclose(*values, atol=1e-12)


def test_not_converged_is_a_warning_at_the_call():
    a = sparse.csr_array([[1.0, 2.0], [2.0, 4.0]])  # singular
    with pytest.warns(spargo.ConvergenceWarning, match=r"solve: not converged after .*: the residual is \d\S* of \|b\|, and 1e-08 is wanted") as all:
        found = spargo.solve(a, [1.0, 0.0])
    assert not found.converged and len(all) == 1 and all[0].filename == __file__
    with pytest.warns(spargo.ConvergenceWarning, match="after 1 iteration of cg.*the limit of 1 iteration"):
        spargo.solve("gen:laplacian2d:n=9", np.arange(81.0), method="cg", max_iterations=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", spargo.ConvergenceWarning)
        assert not spargo.solve(a, [1.0, 0.0]).converged
        assert spargo.solve(a, [1.0, 2.0]).converged  # and says nothing


def test_the_command_chooses_the_same(tmp_path):
    program = pathlib.Path(spargo.__file__).parents[2] / "bin" / "spargo"
    if not program.exists():
        pytest.skip("the command is not built beside the module")
    for name, (a, _) in KINDS.items():
        spargo.mmwrite(tmp_path / "a.mtx", sparse.csr_array(a))
        spargo.mmwrite(tmp_path / "b.mtx", a @ np.arange(1.0, len(a) + 1))
        run = subprocess.run([program, "solve", tmp_path / "a.mtx", "--rhs", tmp_path / "b.mtx", "--json", "-"], capture_output=True)
        said = json.loads(run.stdout)
        found = spargo.solve(tmp_path / "a.mtx", a @ np.arange(1.0, len(a) + 1))
        assert (said["method"], said["iterations"]) == (found.method, found.iterations), name


def test_a_matrix_of_a_gpu_is_looked_at(monkeypatch):
    monkeypatch.setattr(spargo.Matrix, "device", "cuda:0")  # its products are the CPU's here
    for name in ("definite", "hidden", "turn", "nonsymmetric"):
        a, methods = KINDS[name]
        b = a @ np.arange(1.0, len(a) + 1) + (1 if name == "hidden" else 0)
        found = spargo.solve(a, b, tolerance=1e-10)
        assert found.converged and found.method in methods
        np.testing.assert_allclose(found.x, np.linalg.solve(a, b), rtol=1e-7)
    with pytest.raises(spargo.Error, match="not positive definite") as e:
        spargo.solve(HIDDEN, np.array([1.0, -1.0, 1.0]), method="cg")
    assert type(e.value) is spargo.Error


def test_preconditioners_that_do_not_exist_are_named():
    a = sparse.csr_array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(spargo.Error, match=r"ic0 meets the pivot -3 in row 1 \(from 0\)"):
        spargo.solve(a, np.ones(2), preconditioner="ic0")
    with pytest.raises(spargo.Error, match=r"the block of rows 0 to 1 \(from 0\) is not positive definite"):
        spargo.solve(a, np.ones(2), preconditioner="block-jacobi")
    with pytest.raises(spargo.Error, match="blocks of 0 rows"):
        spargo.solve(a, np.ones(2), method="gmres", preconditioner="block-jacobi", block_size=0)
    with pytest.raises(ValueError, match="'auto', 'none', 'jacobi', 'block-jacobi', 'ilu0', 'ic0'"):
        spargo.solve(a, np.ones(2), preconditioner="ilu")


def test_a_zero_on_the_diagonal_is_named():
    a = sparse.csr_array([[1.0, 2.0], [3.0, 0.0]])
    for method in ("minres", "bicgstab", "gmres"):
        with pytest.raises(spargo.Error, match=r"row 1 \(from 0\) has 0 on the diagonal"):
            spargo.solve(a, np.ones(2), method=method, preconditioner="jacobi")
        assert spargo.solve(a, np.ones(2), method="gmres").converged
    skew = spargo.solve(sparse.csr_array([[0.0, 1.0], [-1.0, 0.0]]), [1.0, 0.0], method="bicgstab")
    assert not skew.converged and skew.residual == 1


def test_a_large_entry_hides_no_asymmetry():
    a = np.array([[1e20, 1, 0], [1, 1, 3], [0, -3, 1]])
    found = spargo.solve(a, [2, 4, -2])
    assert found.method == "bicgstab" and np.allclose(found.x, [1e-20, 1, 1])


def test_integers_become_float64():
    a = np.array([[4, 1], [1, 3]])
    for given in (a, a.astype(np.uint8), sparse.coo_array(a)):
        found = spargo.solve(given, [1, 2], max_iterations=9.0)
        assert found.method == "cg" and np.allclose(a @ found.x, [1, 2])
    assert spargo.solve(np.eye(3) > 0, [1, 2, 3]).x.tolist() == [1, 2, 3]
    with pytest.warns(spargo.InputWarning, match="beyond 2.53"):
        spargo.solve([[2**62 + 1]], [1.0])
    for exact in (2**53, -(2**53), np.uint64(2**53)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            spargo.solve(np.array([[exact]]), [1.0])


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
    for value in (np.nan, np.inf, -np.inf):
        with pytest.raises(spargo.Error, match="NaN"):
            spargo.solve(a, np.full(25, value))
        with pytest.raises(spargo.Error, match="guess has a value"):
            spargo.solve(a, np.ones(25), guess=np.full(25, value))
    for tolerance in (-1, np.nan):
        with pytest.raises(spargo.Error, match="tolerance"):
            spargo.solve(a, np.ones(25), tolerance=tolerance)
    for bad in ({"max_iterations": -1}, {"max_iterations": 2.5}, {"block_size": 2.5}):
        with pytest.raises(spargo.Error, match=f"solve: {next(iter(bad))} is "):
            spargo.solve(a, np.ones(25), **bad)
    for bad in ("text", sparse.csr_array(np.ones((25, 1))), None):
        with pytest.raises(TypeError, match="a vector of numbers is expected, and this is "):
            spargo.solve(a, bad)
    if np.finfo(np.longdouble).bits > 64:
        for given in ({"b": np.ones(25, np.longdouble)}, {"b": np.ones(25), "guess": np.ones(25, np.clongdouble)}):
            with pytest.raises(NotImplementedError, match="this vector is of "):
                spargo.solve(a, **given)
    with pytest.raises(ValueError, match="preconditioner is 'ilu'"):
        spargo.solve(a, np.ones(25), preconditioner="ilu")
    for indefinite in (-sparse.identity(5, format="csr"), sparse.csr_array((5, 5))):
        with pytest.raises(spargo.Error, match="not positive definite"):
            spargo.solve(indefinite, np.ones(5), method="cg")


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
    with pytest.raises(spargo.UnsupportedError, match="expected cg"):
        spargo.solve(m, b, method="gmres")
    with pytest.raises(spargo.UnsupportedError, match="converts"):
        spargo.solve(m, xp.to(np.ones(400, complex)))


@pytest.mark.parametrize("method", ["cg", "minres", "bicgstab", "gmres"])
@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-200, 1e-155, 1e-10, 1.0, 1e100, 1e155, 1e200, 1e307])
def test_the_right_sides_scale_does_not_matter(scale, method):
    a, b = system(np.float64, n=20)
    b = np.round(b * 10) / 10 if scale > 1e-300 else np.round(b)
    found = spargo.solve(a, b * scale, method=method, tolerance=1e-9, max_iterations=400)
    want = np.linalg.solve(a.toarray(), b)
    assert found.converged and 0 < found.iterations
    assert np.abs(found.x / scale - want).max() < 1e-6 or scale < 1e-300
    assert np.any(found.x != 0) or scale == 5e-324
    for matrix_scale in (1e-150, 1e150):
        if 1e-150 <= scale / matrix_scale <= 1e150:
            assert spargo.solve(a * matrix_scale, b * scale, method=method, tolerance=1e-9, max_iterations=400).converged


@pytest.mark.parametrize("b", [[1e200, 1, 1], [1e155, 1e155, 0], [1e-200, 0, 0], [1e300, 1e-300, 0]])
def test_elements_far_apart(b):
    found = spargo.solve(np.eye(3) * 2, np.array(b))
    assert found.converged and found.residual <= 1e-8 and found.x[0] == b[0] / 2


def test_results_out_of_range_are_said():
    with pytest.raises(spargo.Error, match="the solution has a value"):
        spargo.solve(np.eye(2) * 1e-200, np.full(2, 1e200))
    for bad in (np.nan, np.inf):
        with pytest.raises(spargo.Error):
            spargo.solve(np.diag([1.0, bad]), np.ones(2))
        with pytest.raises(spargo.Error, match="the matrix has a value"):
            spargo.solve(np.diag([1.0, bad]), np.ones(2), preconditioner="none")


def hilbert(n):
    i = np.arange(n)
    return 1 / (i[:, None] + i + 1)


def test_what_does_not_converge_says_so():
    a = hilbert(12) + np.diag(np.full(12, 1e-17))
    found = spargo.solve(a, np.ones(12), tolerance=1e-15, preconditioner="none")
    true = np.linalg.norm(np.ones(12) - a @ found.x) / np.sqrt(12)
    assert found.residual == pytest.approx(true, rel=1e-2, abs=1e-15) and found.converged == (found.residual <= 1e-15)
    assert not spargo.solve(a, np.ones(12), tolerance=0).converged


def test_jacobi_pays_on_badly_scaled_matrices():
    scales = np.logspace(0, 6, 400)
    a = spargo.generate("gen:laplacian2d:n=20").tocsr()
    a = sparse.csr_array(sparse.diags_array(scales) @ a @ sparse.diags_array(scales))
    b = a @ np.ones(400)
    plain = spargo.solve(a, b, preconditioner="none", tolerance=1e-10)
    assert not plain.converged and plain.residual > 1e-10
    found = spargo.solve(a, b, tolerance=1e-10)
    assert found.converged and found.iterations < 400 and found.residual <= 1e-10
    np.testing.assert_array_equal(found.x, spargo.solve(a, b, preconditioner="jacobi", tolerance=1e-10).x)
    for method in ("minres", "gmres", "bicgstab"):
        jacobi = spargo.solve(a, b, method=method, preconditioner="jacobi", tolerance=1e-6, max_iterations=4000)
        assert jacobi.converged == (jacobi.residual <= 1e-6)
    with pytest.raises(spargo.Error, match="not positive definite"):
        spargo.solve(sparse.diags_array([1.0, -1.0]), np.ones(2), method="cg")


@pytest.mark.parametrize("name", ["1138_bus.mtx", "bcsstk13.mtx"])
def test_ill_conditioned_matrices(name):
    folder = pathlib.Path(os.environ.get("SPARGO_DATA") or pathlib.Path(__file__).resolve().parents[3].parent / "shared" / "data")
    if not (folder / name).exists():
        pytest.skip(f"no {name} in {folder}")
    a = spargo.mmread(folder / name).tocsr()
    b = a @ np.ones(a.shape[0])
    found = spargo.solve(a, b, tolerance=1e-9)
    assert found.converged and np.linalg.norm(b - a @ found.x) <= 1.1e-9 * np.linalg.norm(b)
