"""Times beside SciPy and networkx, in one run: medians in ms of calls on the same data, every result compared.

    python apps/python/tests/speed.py [--scale 18] [--threads 0] [--output FILE]
"""

import argparse
import os
import pathlib
import platform
import statistics
import sys
import tempfile
import time

import networkx as nx
import numpy as np
import scipy
import scipy.io
import spargo
from scipy.sparse import csgraph

try:
    import fast_matrix_market as fmm
except ImportError:
    fmm = None


def median(call, least=5, seconds=1.0):
    """The time of a call in ms, over a minimum of calls and time, without the first call, which plans, unless it takes seconds."""
    began = time.perf_counter()
    call()
    if time.perf_counter() - began > 2:
        return (time.perf_counter() - began) * 1e3
    times, began = [], time.perf_counter()
    while len(times) < least or time.perf_counter() - began < seconds:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def rows(scale):
    """(what, peer, ours in ms, theirs in ms)"""
    r = spargo.generate(f"gen:rmat:scale={scale},degree=16,seed=1")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.mtx")
        spargo.mmwrite(path, r, symmetry="general")
        size = os.path.getsize(path) / 1e6
        ours, theirs = spargo.mmread(path), scipy.io.mmread(path, spmatrix=False)
        assert (ours.row == theirs.row).all() and (ours.data == theirs.data).all()
        read = median(lambda: spargo.mmread(path))
        yield f"mmread, R-MAT {scale}, {size:.0f} MB", "scipy.io", read, median(lambda: scipy.io.mmread(path, spmatrix=False))
        if fmm is not None:
            yield f"mmread, R-MAT {scale}, {size:.0f} MB", "fast_matrix_market", read, median(lambda: fmm.mmread(path))

    products = {
        "Laplacian 1000 x 1000": spargo.generate("gen:laplacian2d:n=1000").tocsr(),
        f"R-MAT {scale}": r.tocsr(),
        "uniform, 20,000 entries": spargo.generate("gen:uniform:rows=2000,degree=10,seed=1").tocsr(),
        "uniform, 10,000 entries": spargo.generate("gen:uniform:rows=1000,degree=10,seed=1").tocsr(),
    }
    for name, a in products.items():
        m, x, xs = spargo.Matrix(a), np.random.default_rng(1).random(a.shape[1]), np.random.default_rng(1).random((a.shape[1], 8))
        assert np.allclose(m @ x, a @ x) and np.allclose(m @ xs, a @ xs)
        theirs = median(lambda: a @ x)
        yield f"A @ x, {name}", "scipy", median(lambda: m @ x), theirs
        prepared = spargo.Matrix(a).prepare()
        assert np.allclose(prepared @ x, a @ x)
        yield f"A @ x, {name}, prepared", "scipy", median(lambda: prepared @ x), theirs
        yield f"A @ X (8 columns), {name}", "scipy", median(lambda: m @ xs), median(lambda: a @ xs)

    g = spargo.Graph.read(f"gen:rmat:scale={scale},degree=16,seed=1", directed=False)
    a = g.to_scipy()
    hub = int(np.argmax(g.degrees))
    levels = g.bfs(hub).levels
    order, _ = csgraph.breadth_first_order(a, hub)
    assert order.size == (levels >= 0).sum()
    scipys = median(lambda: csgraph.breadth_first_order(a, hub))
    yield f"bfs, R-MAT {scale}, undirected", "scipy", median(lambda: g.bfs(hub)), scipys
    yield f"bfs_order, R-MAT {scale}", "scipy", median(lambda: g.bfs_order(hub)), scipys
    assert g.connected_components()[0] == csgraph.connected_components(a)[0]
    yield f"components, R-MAT {scale}", "scipy", median(g.connected_components), median(lambda: csgraph.connected_components(a))
    w = a.copy()
    w.data = np.random.default_rng(1).random(w.nnz)
    d = spargo.Graph.from_scipy(w)
    assert np.allclose(d.sssp(hub).distances, csgraph.dijkstra(w, indices=hub))
    yield f"sssp, R-MAT {scale}, random weights", "scipy", median(lambda: d.sssp(hub)), median(lambda: csgraph.dijkstra(w, indices=hub), least=1)

    small = min(scale, 14)
    theirs = nx.from_scipy_sparse_array(spargo.Graph.read(f"gen:rmat:scale={small},degree=16,seed=1", directed=False).to_scipy())
    for *_, data in theirs.edges(data=True):
        data.clear()
    hub = max(theirs, key=theirs.degree)
    converted = spargo.Graph.from_networkx(theirs)
    yield f"conversion of networkx's graph, R-MAT {small}", "to_scipy", median(lambda: spargo.Graph.from_networkx(theirs)), median(lambda: nx.to_scipy_sparse_array(theirs), least=1)
    calls = {
        "single_source_shortest_path_length": (hub,),
        "bfs_edges": (hub,),
        "connected_components": (),
        "pagerank": (),
        "triangles": (),
        "clustering": (),
    }
    for name, args in calls.items():
        function = getattr(nx, name)

        def run(graph, backend, function=function, args=args):
            result = function(graph, *args, backend=backend)
            return list(result) if hasattr(result, "__next__") else result

        want, got = run(theirs, "networkx"), run(converted, "spargo")
        if name == "pagerank":
            assert max(abs(want[v] - got[v]) for v in want) < 1e-3
        else:
            assert got == want or all(abs(got[v] - want[v]) < 1e-12 for v in want)
        yield f"nx.{name}, R-MAT {small}", "networkx", median(lambda: run(converted, "spargo")), median(lambda: run(theirs, "networkx"), least=1)
    tiny = nx.gnm_random_graph(1000, 5000, seed=1)
    yield "nx.betweenness_centrality, 1,000 vertices, 5,000 edges", "networkx", median(lambda: nx.betweenness_centrality(spargo.Graph.from_networkx(tiny))), median(lambda: nx.betweenness_centrality(tiny, backend="networkx"), least=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scale", type=int, default=18)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    lines = [
        f"$ {' '.join(['python', 'apps/python/tests/speed.py', *sys.argv[1:]])}",
        f"spargo {spargo.__version__}, {spargo.devices()[0].description}; SciPy {scipy.__version__}, networkx {nx.__version__}, "
        f"NumPy {np.__version__}, Python {platform.python_version()}; {os.cpu_count()} processors, {platform.machine()}",
        "",
        f"{'medians in ms':60} {'spargo':>10} {'peer':>10} {'ratio':>8}  peer",
    ]
    print("\n".join(lines), flush=True)
    with spargo.config(threads=options.threads):
        for what, peer, ours, theirs in rows(options.scale):
            lines.append(f"{what:60} {ours:10.3f} {theirs:10.3f} {theirs / ours:8.2f}  {peer}")
            print(lines[-1], flush=True)
    if options.output:
        options.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
