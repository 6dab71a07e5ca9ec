"""Times on a GPU beside CuPy's and PyTorch's, in one run; every result is compared. Products: the time on the device of
many in a row, by events; searches and ranks: medians of whole calls, with results on the device and on the host.

    python apps/python/tests/speed_device.py [--scale 22] [--only products|graphs] [--output FILE]
"""

import argparse
import pathlib
import platform
import statistics
import sys
import time
import warnings

import numpy as np
import spargo
from scipy import sparse

try:
    import cupy as cp
    import cupyx.scipy.sparse as theirs
    import torch
except ImportError:  # pytest looks for doctests here, too
    cp = None


def on_device(call, least=20):
    """ms of one of many calls in a row."""
    call()
    began, ended = cp.cuda.Event(), cp.cuda.Event()
    began.record()
    for _ in range(least):
        call()
    ended.record()
    ended.synchronize()
    return cp.cuda.get_elapsed_time(began, ended) / least


def whole(call, times=9, seconds=2.0):
    """Median ms of a call and of what it has enqueued."""
    call()
    cp.cuda.Device().synchronize()
    found, first = [], time.perf_counter()
    while len(found) < times and (len(found) < 3 or time.perf_counter() - first < seconds):
        began = time.perf_counter()
        call()
        cp.cuda.Device().synchronize()
        found.append(time.perf_counter() - began)
    return statistics.median(found) * 1e3


def enqueued(call, times=2000):
    """Median us until a call is back, of several rounds."""
    rounds = []
    for _ in range(5):
        call()
        cp.cuda.Device().synchronize()
        began = time.perf_counter()
        for _ in range(times // 5):
            call()
        rounds.append((time.perf_counter() - began) / (times // 5))
    return statistics.median(rounds) * 1e6


def products(scale):
    rng = np.random.default_rng(1)
    specs = {"Laplacian 2048 x 2048": "gen:laplacian2d:n=2048", f"R-MAT {scale}": f"gen:rmat:scale={scale},degree=16,seed=1"}
    for name, spec in specs.items():
        a = spargo.Matrix(spec).to_scipy()
        parts = cp.asarray(a.data), cp.asarray(a.indices.astype(np.int32)), cp.asarray(a.indptr.astype(np.int32))
        other = theirs.csr_matrix(parts, shape=a.shape)
        m = spargo.Matrix(other)
        x, xs = cp.asarray(rng.random(a.shape[1])), cp.asarray(rng.random((a.shape[1], 8)))
        assert cp.allclose(m @ x, other @ x) and cp.allclose(m @ xs, other @ xs)
        peer = on_device(lambda: other @ x)
        yield f"A @ x, {name}", "ms", on_device(lambda: m @ x), peer, "cupyx"
        prepared = spargo.Matrix(other).prepare()
        assert cp.allclose(prepared @ x, other @ x)
        yield f"A @ x, {name}, prepared", "ms", on_device(lambda: prepared @ x), peer, "cupyx"
        yield f"A @ X (8 columns), {name}", "ms", on_device(lambda: m @ xs), on_device(lambda: other @ xs), "cupyx"
    a = spargo.generate("gen:uniform:rows=1000,degree=10,seed=1").tocsr()
    m = spargo.Matrix(a, device="cuda")
    x = cp.asarray(rng.random(1000))
    other = theirs.csr_matrix(a)
    out = cp.empty(1000)
    peer = enqueued(lambda: other @ x)
    yield "A @ x, 10,000 entries, until it is enqueued", "us", enqueued(lambda: m @ x), peer, "cupyx"
    yield "the same into out=", "us", enqueued(lambda: m.dot(x, out=out)), peer, "cupyx"
    t = torch.from_numpy(cp.asnumpy(x)).cuda()
    u = torch.sparse_csr_tensor(torch.from_numpy(a.indptr), torch.from_numpy(a.indices), torch.from_numpy(a.data), a.shape).cuda()
    assert torch.allclose(m @ t, u @ t)
    yield "A @ x, 10,000 entries, PyTorch's vectors", "us", enqueued(lambda: m @ t), enqueued(lambda: u @ t), "torch.sparse"
    yield "A @ x, 10,000 entries, done", "us", 1e3 * whole(lambda: m @ x, 200), 1e3 * whole(lambda: other @ x, 200), "cupyx"
    h = cp.asnumpy(x)
    yield "A @ x, 10,000 entries, NumPy's vector there and back", "us", 1e3 * whole(lambda: m @ h, 200), 1e3 * whole(lambda: cp.asnumpy(other @ cp.asarray(h)), 200), "cupyx"


def levels_by_products(a, source):
    """Breadth-first search as CuPy alone has it: a product a level."""
    levels = cp.full(a.shape[0], -1, cp.int32)
    frontier = cp.zeros(a.shape[0], a.dtype)
    levels[source], frontier[source] = 0, 1
    depth = 0
    while True:
        depth += 1
        new = (a @ frontier > 0) & (levels < 0)
        if not new.any():
            return levels
        levels[new] = depth
        frontier = new.astype(a.dtype)


def ranks_by_products(a, degrees, iterations, damping=0.85):
    """PageRank as CuPy alone has it; of a symmetric matrix."""
    n = a.shape[0]
    shares = cp.where(degrees > 0, damping / cp.maximum(degrees, 1), 0)
    ends = degrees == 0
    ranks = cp.full(n, 1 / n)
    for _ in range(iterations):
        ranks = a @ (ranks * shares) + ((1 - damping) + damping * ranks[ends].sum()) / n
    return ranks


def once(call):
    """The result, and the ms it took."""
    began = time.perf_counter()
    return call(), (time.perf_counter() - began) * 1e3


def graphs(scale):
    spec = f"gen:rmat:scale={scale},degree=16,seed=1"
    name = f"R-MAT {scale}"
    g, ms = once(lambda: spargo.Graph.read(spec, directed=False, device="cuda"))
    print(f"{g}, generated on the CPU and built in {ms / 1e3:.1f} s", flush=True)
    here = spargo.Graph.read(spec, directed=False, device="cpu")
    hub = int(np.argmax(here.degrees))
    want = here.bfs(hub)
    cpu = whole(lambda: here.bfs(hub), 5)
    parts = cp.ones(here.indices.size), cp.asarray(here.indices), cp.asarray(here.offsets)
    other, degrees = theirs.csr_matrix(parts, shape=(here.vertices,) * 2), cp.asarray(here.degrees)
    for arrays in ("cupy", "numpy"):
        with spargo.config(arrays=arrays):
            found = g.bfs(hub)
            assert (cp.asnumpy(found.levels) == want.levels).all() and found.reached == want.reached
            yield f"bfs, {name}, results as {arrays}'s", "ms", whole(lambda: g.bfs(hub)), cpu, "the CPU"
    with spargo.config(arrays="cupy"):
        assert (levels_by_products(other, hub) == g.bfs(hub).levels).all()
        peer = whole(lambda: levels_by_products(other, hub), 5)
        yield f"bfs without parents, {name}", "ms", whole(lambda: g.bfs(hub, parents=None)), peer, "cupyx, a product a level"
    cpu = whole(lambda: here.pagerank(iterations=20, algorithm="jacobi"), 3)
    want_ranks = here.pagerank(iterations=20, algorithm="jacobi").ranks
    for arrays in ("cupy", "numpy"):
        with spargo.config(arrays=arrays):
            assert np.allclose(cp.asnumpy(g.pagerank(iterations=20).ranks), want_ranks, rtol=1e-9, atol=1e-15)
            yield f"pagerank, {name}, 20 iterations, {arrays}'s", "ms", whole(lambda: g.pagerank(iterations=20)), cpu, "the CPU"
    with spargo.config(arrays="cupy"):
        assert cp.allclose(ranks_by_products(other, degrees, 20), g.pagerank(iterations=20).ranks, rtol=1e-9, atol=1e-15)
        peer = whole(lambda: ranks_by_products(other, degrees, 20), 5)
        yield f"pagerank, {name}, 20 iterations, cupy's", "ms", whole(lambda: g.pagerank(iterations=20)), peer, "cupyx, a product each"
        del other, degrees, parts
        cpu = whole(here.connected_components, 5)
        count, labels = g.connected_components()
        assert count == here.connected_components()[0] and (cp.asnumpy(labels) == here.connected_components()[1]).all()
        yield f"components, {name}", "ms", whole(g.connected_components), cpu, "the CPU"
        counted, cpu = once(here.triangles)
        found = g.triangles()
        assert found.total == counted.total and (cp.asnumpy(found.per_vertex) == counted.per_vertex).all()
        yield f"triangles, {name}", "ms", whole(g.triangles, 5), cpu, "the CPU"
        sources = [hub, 1, 2, 3]
        values, cpu = once(lambda: here.betweenness(sources))
        assert np.allclose(cp.asnumpy(g.betweenness(sources)), values, rtol=1e-9, atol=1e-15)
        yield f"betweenness, {name}, 4 sources", "ms", whole(lambda: g.betweenness(sources), 5), cpu, "the CPU"
        weights = np.random.default_rng(1).integers(1, 256, here.indices.size, np.uint8).astype(np.int32)
        a = sparse.csr_array((weights, here.indices, here.offsets), shape=(here.vertices,) * 2)
        here, there = spargo.Graph.from_scipy(a), spargo.Graph.from_scipy(a, device="cuda")
        want, _ = once(lambda: here.sssp(hub))
        assert (cp.asnumpy(there.sssp(hub).distances) == want.distances).all()
        cpu = whole(lambda: here.sssp(hub), 3)
        yield f"sssp, {name}, weights 1 to 255", "ms", whole(lambda: there.sssp(hub)), cpu, "the CPU"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scale", type=int, default=22)
    parser.add_argument("--only", choices=["products", "graphs"])
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    if cp is None:
        sys.exit("speed_device.py: CuPy and PyTorch are needed")
    warnings.simplefilter("ignore")  # PyTorch's, of its sparse tensors
    lines = [
        f"$ {' '.join(['python', 'apps/python/tests/speed_device.py', *sys.argv[1:]])}",
        f"spargo {spargo.__version__}, {spargo.devices()[1].description}, {spargo.devices()[0].description}; CuPy {cp.__version__}, "
        f"PyTorch {torch.__version__}, NumPy {np.__version__}, Python {platform.python_version()}",
        "",
        f"{'':60} {'spargo':>10} {'peer':>10} {'ratio':>8}  peer",
    ]
    print("\n".join(lines), flush=True)
    for part in (products, graphs):
        if options.only not in (None, part.__name__):
            continue
        for what, unit, ours, other, peer in part(options.scale):
            lines.append(f"{what + ', ' + unit:60} {ours:10.3f} {other:10.3f} {other / ours:8.2f}  {peer}")
            print(lines[-1], flush=True)
    if options.output:
        options.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
