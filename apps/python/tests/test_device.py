"""Matrices and graphs on a GPU, beside those on the CPU and NumPy. What needs one skips visibly where there is none, and
fails under SPARGO_REQUIRE_GPU=1; errors and arguments are tested everywhere."""

import importlib.util
import os
import pickle
import threading

import numpy as np
import pytest
import spargo
from conftest import INDICES, VALUES, random_matrix
from scipy import sparse
from spargo import _config, _core, _device

SHAPES = [(0, 0), (0, 3), (3, 0), (1, 1), (31, 33), (257, 255), (40, 3000)]
REQUIRED = os.environ.get("SPARGO_REQUIRE_GPU") == "1"


def lacking(reason):
    (pytest.fail if REQUIRED else pytest.skip)(reason)


class CuPy:
    """What the tests ask of an array library."""

    def __init__(self):
        import cupy

        self.cp, self.type = cupy, cupy.ndarray
        # Holds a stream for so many cycles, at most a second or so.
        self.kernel = cupy.RawKernel(
            'extern "C" __global__ void hold(long long n) { long long t = clock64(); while (clock64() - t < n) {} }', "hold"
        )

    def to(self, a):
        return self.cp.asarray(a)

    def back(self, a):
        return self.cp.asnumpy(a)

    def address(self, a):
        return a.data.ptr

    def stream(self):
        return self.cp.cuda.Stream(non_blocking=True)

    def on(self, stream):
        return stream

    def done(self, stream):
        return stream.done

    def hold(self, cycles):
        self.kernel((1,), (1,), (np.int64(cycles),))

    def matrix(self, a):
        import cupyx.scipy.sparse as other

        parts = (self.to(a.data), self.to(a.indices), self.to(a.indptr))
        return getattr(other, f"{a.format}_matrix")(parts, shape=a.shape), parts


class Torch:
    def __init__(self):
        import torch

        self.torch, self.type = torch, torch.Tensor

    def to(self, a):
        return self.torch.from_numpy(np.array(a)).cuda()

    def back(self, a):
        return a.cpu().resolve_conj().numpy()

    def address(self, a):
        return a.data_ptr()

    def stream(self):
        return self.torch.cuda.Stream()

    def on(self, stream):
        return self.torch.cuda.stream(stream)

    def done(self, stream):
        return stream.query()

    def hold(self, cycles):
        self.torch.cuda._sleep(cycles)

    def matrix(self, a):
        make = {"csr": self.torch.sparse_csr_tensor, "csc": self.torch.sparse_csc_tensor}[a.format]
        parts = (self.to(a.data), self.to(a.indices), self.to(a.indptr))
        return make(parts[2], parts[1], parts[0], a.shape), parts


@pytest.fixture(scope="module")
def gpu():
    if len(spargo.devices()) < 2:
        lacking(f"no GPU: {_core.cuda_reason()}")
    return spargo.devices()[1].name


@pytest.fixture(params=["cupy", "torch"], scope="module")
def xp(request, gpu):
    try:
        return CuPy() if request.param == "cupy" else Torch()
    except ImportError as e:
        return lacking(str(e))


def close(got, want, dtype):
    assert got.dtype == want.dtype and got.shape == want.shape
    single = dtype in (np.float32, np.complex64)
    np.testing.assert_allclose(got, want, rtol=1e-5 if single else 1e-12, atol=1e-4 if single else 1e-11)


# --- Without a GPU ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", ["tpu", "cuda:", "cuda:x", "cuda:-1", "CUDA", "cuda0", "cpu:0", ""])
def test_names_that_are_no_device(device):
    a = random_matrix(5, 5, seed=1)
    for call in (
        lambda: spargo.Matrix(a, device=device),
        lambda: spargo.Matrix("gen:laplacian2d:n=3", device=device),
        lambda: spargo.Graph.from_scipy(a, device=device),
        lambda: spargo.Graph.from_edges([0], [1], device=device),
        lambda: spargo.Graph.read("gen:grid2d:n=3", device=device),
        lambda: spargo.config(device=device),
        lambda: spargo.mmread("a.mtx", device=device),
    ):
        with pytest.raises(ValueError, match="may be 'auto', 'cpu', 'cuda' or 'cuda:N'"):
            call()


def test_a_gpu_that_is_not_there():
    a = random_matrix(5, 5, seed=1)
    device = "cuda:99" if len(spargo.devices()) > 1 else "cuda"
    for call in (
        lambda: spargo.Matrix(a, device=device),
        lambda: spargo.Graph.from_scipy(a, device=device),
        lambda: spargo.Graph.from_edges([0], [1], device=device),
        lambda: spargo.Graph.read("gen:grid2d:n=3", device=device),
        lambda: spargo.config(device=device),
    ):
        with pytest.raises(spargo.DeviceError, match=f"^device '{device}': [^\n]+$") as refused:
            call()
        assert isinstance(refused.value, RuntimeError) and refused.value.code == "device_unavailable"


def test_the_cpu_is_where_things_are_unless_asked():
    a = random_matrix(5, 5, seed=1)
    for device in ("auto", "cpu"):
        assert spargo.Matrix(a, device=device).device == "cpu"
        assert spargo.Graph.from_scipy(a, device=device).device == "cpu"
    with spargo.config(device="cpu"):
        assert spargo.Matrix(a).device == "cpu"
    assert "on the CPU" in repr(spargo.Matrix(a)) and "on the CPU" in repr(spargo.Graph.from_scipy(a))
    for thing in (a, a.data, [1, 2], "name", None, 3.0, spargo.Matrix(a)):
        assert _device.kind_of(thing) is None and _device.ordinal_of(thing) == -1


def test_arrays_that_nobody_here_knows():
    class Elsewhere:
        shape, ndim = (5,), 1

        def __dlpack_device__(self):
            return (2, 0)

    if any(importlib.util.find_spec(name) for name in ("cupy", "torch")):
        pytest.skip("CuPy or PyTorch is here")
    with pytest.raises(spargo.UnsupportedError, match="Elsewhere on a GPU: CuPy or PyTorch is needed"):
        spargo.Matrix(random_matrix(5, 5, seed=1)) @ Elsewhere()


# --- Products ---------------------------------------------------------------------------------------------------------


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


def test_the_stream_is_kept_to(xp, rng):
    """What is enqueued before a product is there for it, and it is there for what comes after; the host goes on."""
    a = random_matrix(2000, 2000, seed=8, density=0.01)
    m = spargo.Matrix(a, device="cuda")
    xs = rng.random((2000, 3))
    want = a @ xs
    m @ xp.to(xs[:, 0])
    m @ xp.to(xs)
    waited = 0
    for turn in range(10):
        stream = xp.stream()
        source, many = xp.to(xs[:, 0].copy()), xp.to(xs)
        x, x2 = xp.to(np.zeros(2000)), xp.to(np.zeros((2000, 3)))
        with xp.on(stream):
            xp.hold(20_000_000)  # some 10 ms
            x[:] = source
            x2[:] = many
            y = m @ x
            y2 = m @ x2
            x[:] = 0  # the product has read it
            z = y * 2
            y[:] = -1
            z2 = y2 * 2
            waited += turn > 0 and xp.done(stream)  # the first turn compiles what CuPy needs
            found, found2 = xp.back(z), xp.back(z2)
        np.testing.assert_allclose(found, 2 * want[:, 0], rtol=1e-12)
        np.testing.assert_allclose(found2, 2 * want, rtol=1e-12)
    assert waited == 0


def test_a_matrix_in_the_making(xp):
    a = random_matrix(500, 500, seed=9, density=0.02)
    for _ in range(5):
        stream = xp.stream()
        data, indices, indptr = (xp.to(v) for v in (a.data, a.indices, a.indptr))
        late = tuple(xp.to(np.zeros_like(v)) for v in (a.data, a.indices, a.indptr))
        with xp.on(stream):
            xp.hold(20_000_000)
            for to, came in zip(late, (data, indices, indptr)):
                to[:] = came
            m = spargo.Matrix(late, shape=a.shape)
            found = xp.back(m @ xp.to(np.ones(500)))
        np.testing.assert_allclose(found, a @ np.ones(500), rtol=1e-12)


class Interface:
    """Another library's array: the CUDA Array Interface alone."""

    def __init__(self, a, stream):
        self.a, self.stream = a, stream

    @property
    def __cuda_array_interface__(self):
        return {**self.a.__cuda_array_interface__, "stream": self.stream}


class Packed:
    """DLPack alone."""

    def __init__(self, a):
        self.a = a

    def __dlpack_device__(self):
        return self.a.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.a.__dlpack__(**options)


def test_protocols(gpu, rng):
    lib = CuPy()
    a = random_matrix(400, 300, seed=10)
    m, x = spargo.Matrix(a, device="cuda"), rng.random(300)
    for stream in (None, 1, 2):
        np.testing.assert_allclose(lib.back(m @ Interface(lib.to(x), stream)), a @ x, rtol=1e-12)
    np.testing.assert_allclose(lib.back(m @ Packed(lib.to(x))), a @ x, rtol=1e-12)
    stream, source = lib.stream(), lib.to(x)
    for _ in range(5):
        late = lib.to(np.zeros(300))
        with stream:
            lib.hold(20_000_000)
            late[:] = source
        y = m @ Interface(late, stream.ptr)  # on CuPy's default stream, behind the other
        assert isinstance(y, lib.type) and not stream.done
        np.testing.assert_allclose(lib.back(y), a @ x, rtol=1e-12)
    borrowed = spargo.Matrix((Interface(lib.to(a.data), None), Interface(lib.to(a.indices), 1), Packed(lib.to(a.indptr))), shape=a.shape)
    np.testing.assert_allclose(lib.back(borrowed @ lib.to(x)), a @ x, rtol=1e-12)


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


def test_threads_share_a_matrix(xp, rng):
    a = random_matrix(500, 500, seed=13)
    m = spargo.Matrix(a, device="cuda")
    xs = rng.random((6, 500))
    want = [a @ x for x in xs]
    wrong = []

    def multiply(x, y):
        with xp.on(xp.stream()):
            there = xp.to(x)
            for _ in range(100):
                if not np.allclose(xp.back(m @ there), y):
                    wrong.append(1)

    threads = [threading.Thread(target=multiply, args=pair) for pair in zip(xs, want)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_products_in_a_cuda_graph(gpu, rng):
    lib = Torch()
    a = random_matrix(500, 400, seed=14)
    m, x = spargo.Matrix(a, device="cuda"), lib.to(np.zeros(400))
    m @ x
    lib.torch.cuda.synchronize()
    graph = lib.torch.cuda.CUDAGraph()
    with lib.torch.cuda.graph(graph):
        y = m @ x
    for _ in range(3):
        here = rng.random(400)
        x.copy_(lib.to(here))
        graph.replay()
        np.testing.assert_allclose(lib.back(y), a @ here, rtol=1e-12)


# --- Graphs -----------------------------------------------------------------------------------------------------------

GRAPHS = ["gen:rmat:scale=10,degree=8,seed=1", "gen:grid2d:n=30", "gen:uniform:rows=1000,degree=1,seed=2"]


def pair(spec, directed):
    return spargo.Graph.read(spec, directed=directed), spargo.Graph.read(spec, directed=directed, device="cuda")


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("spec", GRAPHS)
def test_graphs_are_the_cpus(gpu, spec, directed):
    here, there = pair(spec, directed)
    assert there.device == gpu and "on cuda:0" in repr(there)
    assert (there.vertices, there.edges) == (here.vertices, here.edges)
    np.testing.assert_array_equal(there.offsets, here.offsets)
    np.testing.assert_array_equal(there.indices, here.indices)
    for source in (0, 5, here.vertices - 1):
        for _ in range(2):
            got, want = there.bfs(source, parents="smallest"), here.bfs(source, parents="smallest")
            assert type(got.levels) is np.ndarray and got.levels.dtype == np.int32 and got.parents.dtype == here.indices.dtype
            np.testing.assert_array_equal(got.levels, want.levels)
            np.testing.assert_array_equal(got.parents, want.parents)
            np.testing.assert_array_equal(got.level_sizes, want.level_sizes)
            assert got.reached == want.reached
    assert there.bfs(0, parents=None).parents is None
    np.testing.assert_array_equal(there.bfs(0, max_depth=2).levels, here.bfs(0, max_depth=2).levels)
    for dtype, apart in ((np.float64, 1e-12), (np.float32, 1e-5)):
        got, want = (g.pagerank(iterations=20, algorithm="jacobi", dtype=dtype) for g in (there, here))
        assert got.ranks.dtype == dtype and got.iterations == 20
        np.testing.assert_allclose(got.ranks, want.ranks, atol=apart)
    weights = np.arange(here.vertices) % 3
    got, want = (g.pagerank(tolerance=1e-10, personalization=weights) for g in (there, here))
    assert got.converged
    np.testing.assert_allclose(got.ranks, want.ranks, atol=1e-9)
    for labels in ("dense", "smallest_vertex"):
        got, want = (g.connected_components(labels=labels) for g in (there, here))
        assert got[0] == want[0]
        np.testing.assert_array_equal(got[1], want[1])
    got, want = (g.multi_bfs([0, 7, 7, 3]) for g in (there, here))
    for a, b in zip(got, want):
        np.testing.assert_array_equal(a, b)
    got, want = (g.communities(iterations=5) for g in (there, here))
    assert got[0] == want[0]
    np.testing.assert_array_equal(got[1], want[1])


def test_results_are_of_the_library_of_the_graph(xp):
    a = spargo.Graph.read(GRAPHS[0], directed=True).to_scipy()
    their, parts = xp.matrix(a)
    g = spargo.Graph.from_scipy(their)
    assert g.device == "cuda:0" and [v.address for v in g._arrays()] == [xp.address(parts[2]), xp.address(parts[1])]
    here = spargo.Graph.from_scipy(a)
    found, ranks, labels = g.bfs(3), g.pagerank(iterations=5), g.connected_components()[1]
    many = g.multi_bfs(xp.to(np.array([1, 2])))
    for got, want in (
        (found.levels, here.bfs(3).levels),
        (labels, here.connected_components()[1]),
        (many.levels, here.multi_bfs([1, 2]).levels),
    ):
        assert isinstance(got, xp.type)
        np.testing.assert_array_equal(xp.back(got), want)
    assert isinstance(found.parents, xp.type) and isinstance(ranks.ranks, xp.type)
    np.testing.assert_allclose(xp.back(ranks.ranks), here.pagerank(iterations=5).ranks, atol=1e-12)
    again = g.bfs(4)  # writes over the plan's arrays, not over the caller's
    np.testing.assert_array_equal(xp.back(found.levels), here.bfs(3).levels)
    np.testing.assert_array_equal(xp.back(again.levels), here.bfs(4).levels)
    guess = g.pagerank(iterations=5, guess=ranks.ranks, personalization=xp.to(np.ones(g.vertices)))
    np.testing.assert_allclose(
        xp.back(guess.ranks), here.pagerank(iterations=5, guess=here.pagerank(iterations=5).ranks).ranks, atol=1e-12
    )
    with spargo.config(arrays="numpy"):
        assert type(g.bfs(3).levels) is np.ndarray
    with spargo.config(arrays="cupy" if isinstance(xp, CuPy) else "torch"):
        assert isinstance(spargo.Graph.read(GRAPHS[1], device="cuda").bfs(0).levels, xp.type)
    np.testing.assert_array_equal(g.weights, here.weights)


def test_how_graphs_are_made(xp, rng):
    a = spargo.Graph.read(GRAPHS[0], directed=True).to_scipy()
    their, _ = xp.matrix(a)
    want = spargo.Graph.from_scipy(a, directed=False)
    for g in (
        spargo.Graph.from_scipy(their, directed=False, weights=False),
        spargo.Graph.from_scipy(their, directed=False),
        spargo.Graph.from_scipy(a, directed=False, device="cuda"),
        spargo.Graph.from_scipy(spargo.Matrix(a, device="cuda"), directed=False, weights=False),
    ):
        assert g.device == "cuda:0" and g.edges == want.edges
        np.testing.assert_array_equal(g.indices, want.indices)
        assert g.bfs(1).reached == want.bfs(1).reached
    assert spargo.Graph.from_scipy(their, device="cpu").device == "cpu"
    with pytest.raises(spargo.UnsupportedError, match="weights of complex128"):
        spargo.Graph.from_scipy(xp.matrix(a.astype(complex))[0])
    for kind in (np.bool_, np.float32) if isinstance(xp, CuPy) else (np.bool_, np.float32, np.int64):
        other = a.astype(kind)
        their, _ = xp.matrix(other)
        for directed in (True, False):
            got, exp = spargo.Graph.from_scipy(their, directed=directed), spargo.Graph.from_scipy(other, directed=directed)
            assert (got.weights is None) == (exp.weights is None) == (kind == np.bool_)
            assert got.weights is None or (got.weights.dtype == kind and (got.weights == exp.weights).all())
            np.testing.assert_array_equal(got.indices, exp.indices)
    ends = rng.integers(0, 100, (2, 500))
    want = spargo.Graph.from_edges(*ends, directed=False)
    for g in (
        spargo.Graph.from_edges(xp.to(ends[0]), xp.to(ends[1]), directed=False),
        spargo.Graph.from_edges(*ends, directed=False, device="cuda"),
        spargo.Graph.from_edges(xp.to(ends[0]), xp.to(ends[1]), xp.to(np.ones(500)), directed=False),
    ):
        assert g.device == "cuda:0" and g.vertices == want.vertices
        np.testing.assert_array_equal(g.indices, want.indices)
    copy = pickle.loads(pickle.dumps(g))
    assert copy.device == "cuda:0" and copy.bfs(0).reached == want.bfs(0).reached
    with pytest.raises(spargo.Error):
        spargo.Graph.from_edges(xp.to(np.array([0, 5])), xp.to(np.array([1, 2])), vertices=3)
    with spargo.config(device="cuda"):
        import networkx as nx

        assert spargo.Graph.from_networkx(nx.path_graph(5)).device == "cuda:0"
        assert nx.pagerank(nx.path_graph(5), backend="spargo").keys() == set(range(5))


def test_searches_are_in_order_with_the_stream(xp):
    g = spargo.Graph.read(GRAPHS[0], directed=False)
    want = g.bfs(0).levels
    there = spargo.Graph.from_scipy(xp.matrix(g.to_scipy())[0])
    there.bfs(0)
    for _ in range(5):
        with xp.on(xp.stream()):
            found = xp.back(there.bfs(0).levels * 2)
        np.testing.assert_array_equal(found, 2 * want)


def test_what_a_gpu_does_not_do_is_said(gpu):
    g = spargo.Graph.read(GRAPHS[1], device="cuda")
    here = spargo.Graph.read(GRAPHS[1])
    calls = {
        "sssp": lambda g: g.sssp(0).distances,
        "betweenness": lambda g: g.betweenness([0, 1]),
        "edge_betweenness": lambda g: g.edge_betweenness([0, 1]),
        "triangles": lambda g: g.triangles().per_vertex,
        "bfs_order": lambda g: g.bfs_order(0)[0],
    }
    for name, call in calls.items():
        if hasattr(g._view(False), name):  # it does by now: as the CPU
            np.testing.assert_allclose(call(g), call(here), rtol=1e-9)
            continue
        with pytest.raises(spargo.UnsupportedError, match=f"Graph.{name}"):
            call(g)
    for name in ("clustering", "transitivity"):
        if not hasattr(g._view(False), "triangles"):
            with pytest.raises(spargo.UnsupportedError):
                getattr(g, name)()
    try:
        count, labels = g.connected_components(connection="strong")
    except spargo.UnsupportedError:
        pass
    else:
        assert count == here.connected_components(connection="strong")[0] == labels.max() + 1
    with pytest.raises(spargo.Error):
        g.bfs(g.vertices)


def test_devices(gpu):
    names = [d.name for d in spargo.devices()]
    assert names[0] == "cpu" and names[1] == gpu == "cuda:0" and spargo.devices()[1].description
    with spargo.config(device="cuda"):
        assert _config.settings_device() == "cuda"
        with pytest.raises(spargo.UnsupportedError):
            spargo.mmread("a.mtx", device="cuda")
