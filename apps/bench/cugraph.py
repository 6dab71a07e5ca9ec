#!/usr/bin/env python3
"""Spargo's graph commands beside cuGraph on one GPU: the same generated graphs, medians in one run, answers compared.

    python apps/bench/cugraph.py [--spargo PROGRAM] [--only REGEX] [--seconds 4] [--output FILE.txt]
    python apps/bench/cugraph.py --picture FILE.txt [OUT.svg]

Needs pylibcugraph (26.10 was tried), cupy and Spargo's Python package. Without them it says what is missing and ends
with exit status 1. Spargo's times are the `time_ms` of its commands, which leave out the plan; cuGraph's are calls with a
device synchronization, which leave out its construction of the graph. Both get one call to warm up. Weights are random
integers 1 to 255, of the same distribution but not the same numbers. --seconds limits the repeated calls of an algorithm.
"""
import argparse
import json
import math
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

graphs = {"rmat_22_16": "gen:rmat:scale=22,degree=16", "uniform_4m_16": "gen:uniform:rows=4194304,degree=16",
          "grid_2048": "gen:grid2d:n=2048"}


class cugraph:
    """One graph in cuGraph; every method returns a number to compare with Spargo's report."""

    def __init__(self, spec, directed=False):
        import cupy as cp
        import numpy as np
        import pylibcugraph as lib
        import spargo
        self.cp, self.lib, self.handle = cp, lib, lib.ResourceHandle()
        a = spargo.generate(spec, dtype=np.float32)
        u, v = cp.asarray(a.row, dtype=cp.int64), cp.asarray(a.col, dtype=cp.int64)
        n = self.vertices = a.shape[0]
        key = u * n + v if directed else cp.concatenate([u * n + v, v * n + u])
        del u, v
        key = cp.unique(key[key // n != key % n])
        self.u, self.v = (key // n).astype(cp.int32), (key % n).astype(cp.int32)
        low, high = cp.minimum(self.u, self.v), cp.maximum(self.u, self.v)
        mixed = (low.astype(cp.uint64) * 0x9E3779B97F4A7C15 + high.astype(cp.uint64)) * 0xD1342543DE82EF95
        weights = ((mixed >> 40) % 255 + 1).astype(cp.float32)
        del key, low, high, mixed
        self.directed = directed
        self.plain, self.weighted = self.graph(None), self.graph(weights)

    def graph(self, weights, transposed=False):
        properties = self.lib.GraphProperties(is_symmetric=not self.directed, is_multigraph=False)
        return self.lib.SGGraph(self.handle, properties, self.u, self.v, weights, store_transposed=transposed,
                                renumber=True, do_expensive_check=False,
                                vertices_array=self.cp.arange(self.vertices, dtype=self.cp.int32))

    def bfs(self, report):
        source = self.cp.asarray([report["runs"][0]["source"]], dtype=self.cp.int32)
        distances = self.lib.bfs(self.handle, self.plain, source, not self.directed, 2**31 - 1, False, False)[0]
        return int((distances < 2**31 - 1).sum())

    def sssp(self, report):
        found = self.lib.sssp(self.handle, self.weighted, report["runs"][0]["source"], 1e30, True, False)
        return int((found[1] < 1e30).sum())

    def pagerank(self, report):
        self.pull = getattr(self, "pull", None) or self.graph(None, transposed=True)
        found = self.lib.pagerank(self.handle, self.pull, None, None, None, None, .85, 0., 20, False,
                                  fail_on_nonconvergence=False)
        return float(found[1].max())

    def components(self, report):
        return len(self.cp.unique(self.labels(self.lib.weakly_connected_components)))

    def strong(self, report):
        return len(self.cp.unique(self.labels(self.lib.strongly_connected_components)))

    def labels(self, function):
        return function(self.handle, self.plain, None, None, None, None, False)[1]

    def betweenness(self, report):
        sources = self.cp.asarray([1, 2, 3, 4], dtype=self.cp.int32)
        self.lib.betweenness_centrality(self.handle, self.plain, sources, None, False, False, False)

    def triangles(self, report):
        return int(self.lib.triangle_count(self.handle, self.plain, None, False)[1].astype(self.cp.int64).sum()) // 3

    def cores(self, report):
        # Degrees of both directions count each undirected edge twice.
        return int(self.lib.core_number(self.handle, self.plain, "incoming", False)[1].max())

    def forest(self, report):
        return len(self.lib.minimum_spanning_tree(self.handle, self.weighted)[0]) // 2

    def louvain(self, report):
        return self.lib.louvain(self.handle, self.weights_of_one(), 100, 1e-7, 1., False)[2]

    def leiden(self, report):
        # The modularity that it reports lacks the expected share (results.md): that of the labels.
        vertices, labels, _ = self.lib.leiden(self.handle, 42, self.weights_of_one(), 100, 1., 1., False)
        return lambda: self.modularity(self.cp.asarray(vertices), self.cp.asarray(labels))

    def modularity(self, vertices, labels):
        of = self.cp.zeros(int(vertices.max()) + 1, dtype=self.cp.int64)
        of[vertices] = labels
        masses = self.cp.bincount(of[self.u]).astype(self.cp.float64)
        inside = int((of[self.u] == of[self.v]).sum())
        return inside / len(self.u) - float((masses**2).sum()) / len(self.u) ** 2

    def weights_of_one(self):
        self.ones = getattr(self, "ones", None) or self.graph(self.cp.ones(len(self.u), dtype=self.cp.float32))
        return self.ones

    def trusses(self, report):
        return len(self.lib.k_truss_subgraph(self.handle, self.weights_of_one(), 10, False)[0]) // 2

    def similarity(self, report):
        return float(self.lib.jaccard_coefficients(self.handle, self.plain, *self.pairs(), False, False)[2].sum())

    def pairs(self):
        """2^20 edges, spread over all of them."""
        chosen = self.cp.linspace(0, len(self.u) - 1, 1 << 20).astype(self.cp.int64)
        return self.u[chosen], self.v[chosen]

    def eigenvector(self, report):
        self.pull = getattr(self, "pull", None) or self.graph(None, transposed=True)
        self.lib.eigenvector_centrality(self.handle, self.pull, 1e-6, 1000, False)

    def hits(self, report):
        self.pull = getattr(self, "pull", None) or self.graph(None, transposed=True)
        self.lib.hits(self.handle, self.pull, 1e-6, 1000, None, None, True, False)

    def walks(self, report):
        starts = self.cp.arange(self.vertices, dtype=self.cp.int32)
        self.lib.uniform_random_walks(self.handle, self.plain, starts, report["length"], 1)

    def layout(self, report):
        """From random positions, by Barnes and Hut with its usual opening of 0.5."""
        self.lib.force_atlas2(self.handle, 42, self.weights_of_one(), report["iterations"], None, None, None, False,
                              False, False, None, None, 100., 1., 1., True, .5, 2., False, 1., None, None, None, None,
                              False, False)


# name: command with its flags, and the number of its report to compare; `directed` graphs have a row of their own.
cases = {
    "bfs": ("bfs --source max-degree --repeat 20", lambda r: r["runs"][0]["reached"]),
    "sssp": ("sssp --weights random --source max-degree --repeat 10", lambda r: r["runs"][0]["reached"]),
    "pagerank": ("pagerank --iterations 20 --repeat 10", lambda r: r["top"][0][1]),
    "components": ("components --repeat 20", lambda r: r["components"]),
    "strong": ("components --strong --repeat 10", lambda r: r["components"]),
    "betweenness": ("betweenness --source-list 1,2,3,4 --repeat 5", None),
    "triangles": ("triangles --repeat 5", lambda r: r["triangles"]),
    "cores": ("cores --repeat 10", lambda r: r["max_core"]),
    "forest": ("forest --weights random --repeat 10", lambda r: r["edges"]),
    "louvain": ("communities --method louvain --repeat 3", lambda r: r["modularity"]),
    "leiden": ("communities --method leiden --repeat 3", lambda r: r["modularity"]),
    "trusses": ("trusses --k 10 --repeat 5", lambda r: r["edges"]),
    "similarity": ("similarity --pairs PAIRS --repeat 5", lambda r: r["sum"]),
    "eigenvector": ("eigenvector --tolerance 1e-6 --repeat 5", None),
    "hits": ("hits --tolerance 1e-6 --repeat 5", None),
    "walks": ("walks --length 80 --repeat 5", None),
    "layout": ("layout --iterations 20 --start random --repeat 3", None),
}


def spargo_report(program, command, spec, directed):
    name, *flags = command.split()
    line = [program, name, spec, "--directed" if directed else "--undirected", *flags, "--device", "cuda",
            "--no-validate", "--json", "-"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300)
    if done.returncode not in (0, 3):
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}")
    report = json.loads(done.stdout)
    times = report.get("time_ms") or report["runs"][0]["time_ms"]
    return report, times["median"] if isinstance(times, dict) else times


def write_pairs(peer):
    path = Path(tempfile.gettempdir()) / "spargo_pairs.el"
    first, second = (a.get().tolist() for a in peer.pairs())
    path.write_text("".join(f"{u} {v}\n" for u, v in zip(first, second)))
    return str(path)


def median_ms(call, synchronize, seconds):
    answer, times, began = call(), [], time.perf_counter()
    synchronize()
    while len(times) < 20 and (not times or time.perf_counter() - began < seconds):
        start = time.perf_counter()
        call()
        synchronize()
        times.append((time.perf_counter() - start) * 1e3)
    return answer, statistics.median(times)


def agree(name, ours, theirs):
    if ours is None or theirs is None:
        return ""
    if name in ("louvain", "leiden"):  # quality, not one right answer
        return f"{ours:.4f} / {theirs:.4f}"
    return "same" if math.isclose(ours, theirs, rel_tol=1e-4) else f"DIFFER: {ours} / {theirs}"


def compare(options, out):
    import cupy as cp
    import pylibcugraph
    import rmm
    rmm.reinitialize(pool_allocator=True, initial_pool_size=20 << 30)
    gpu = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{gpu}, cuGraph {pylibcugraph.__version__}, medians in ms\n\n"
          f"{'algorithm':14}{'graph':20}{'Spargo':>10}{'cuGraph':>11}{'ratio':>8}  answers", file=out, flush=True)
    for graph, spec in graphs.items():
        for directed in (False, True):
            wanted = [n for n in cases
                      if (n in ("strong", "hits")) == directed and re.search(options.only, f"{n}/{graph}")]
            if not wanted or (directed and graph != "rmat_22_16"):
                continue
            peer = cugraph(spec, directed)
            for name in wanted:
                command, number = cases[name]
                try:
                    if "PAIRS" in command:
                        command = command.replace("PAIRS", write_pairs(peer))
                    report, ours = spargo_report(options.spargo, command, spec, directed)
                    answer, theirs = median_ms(lambda: getattr(peer, name)(report),
                                               cp.cuda.Device().synchronize, options.seconds)
                    answer = answer() if callable(answer) else answer  # not timed
                    verdict = agree(name, number and number(report), answer)
                    row = f"{ours:10.3f}{theirs:11.3f}{theirs / ours:8.1f}  {verdict}"
                except Exception as e:  # a peer's or a command's failure is a row, not the end of the table
                    row = f"  {type(e).__name__}: {str(e)[:90]}"
                print(f"{name:14}{graph:20}{row}", file=out, flush=True)
            del peer
            cp.get_default_memory_pool().free_all_blocks()


def picture(table):
    rows = re.findall(r"^(\w+) +(\w+) +([\d.]+) +([\d.]+) +([\d.]+)", table, re.M)
    graphs = list(dict.fromkeys(row[1] for row in rows))
    rows.sort(key=lambda row: graphs.index(row[1]))
    left, bar, unit, y, parts = 190, 15, 150, 40, []
    for name, graph, ours, theirs, ratio in rows:
        width = max(1., unit * math.log10(max(float(ratio), 1.01)))
        parts.append(f'<text x="{left - 8}" y="{y + 11}" text-anchor="end">{name}, {graph}</text>'
                     f'<rect x="{left}" y="{y}" width="{width:.1f}" height="{bar - 3}" fill="#1f6feb"/>'
                     f'<text x="{left + width + 5:.1f}" y="{y + 11}">{ratio}</text>')
        y += bar
    for power in range(4):
        x = left + unit * power
        parts.append(f'<line x1="{x}" y1="34" x2="{x}" y2="{y}" stroke="#d0d7de"/>'
                     f'<text x="{x}" y="28" text-anchor="middle">{10**power}x</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{y + 8}" font-family="sans-serif" '
            f'font-size="11" fill="#24292f">\n<rect width="760" height="{y + 8}" fill="#ffffff"/>\n'
            f'<text x="8" y="14">Times as fast as cuGraph on the same GPU (logarithmic)</text>\n'
            + "\n".join(parts) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spargo", default="spargo")
    parser.add_argument("--only", default="", help="cases ALGORITHM/GRAPH that match")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--picture", nargs="+", type=Path)
    options = parser.parse_args()
    if options.picture:
        svg = picture(options.picture[0].read_text())
        return options.picture[1].write_text(svg) if len(options.picture) > 1 else print(svg)
    try:
        import cupy, pylibcugraph, rmm, spargo  # noqa: F401, E401
    except ImportError as e:
        sys.exit(f"cugraph.py: {e} (expected pylibcugraph, rmm, cupy and Spargo's Python package)")
    with open(options.output, "w") if options.output else open(1, "w", closefd=False) as out:
        compare(options, out)


main()
