#!/usr/bin/env python3
"""Spargo's graph commands beside other programs on the CPU: the same files, medians in one run, answers compared.

    OMP_NUM_THREADS=2 taskset -c 2,3 python apps/bench/cpu_peers.py [--spargo PROGRAM] [--programs FOLDER]
        [--only REGEX] [--seconds 3] [--total 300] [--folder FOLDER] [--output FILE.txt]

Needs SciPy; igraph, leidenalg, networkit (or icebug, under the same name), graph-tool and fa2_modified take part where
they are installed, and programs where FOLDER has them: gve_louvain, gve_leiden (puzzlef/louvain- and
leiden-communities-openmp), kcore (ucrparlay/Parallel-KCore, printing the largest core number), pkt (pkt-inter-shrink of
AccTrussDecomposition), fdiam (burtscher/F-Diam), of pbbsbench mst (parallelFilterKruskal), pbbs_mis (incrementalMIS),
pbbs_mis_nd (ndMIS) and pbbs_matching (incrementalMatching), of Indigo2Suite indigo_mis and indigo_mis_data
(MIS_OMP_V_Topo_Push and Data_Push, IntType_Atomic_NonDeterm_Default), of GBBS gbbs_coloring (Hasenplaugh14), gbbs_mis
and gbbs_matching (RandomGreedy), of ThunderRW thunderrw (deepwalk) and thunderrw_kept (with LOG_SEQUENCE: it keeps the
walks, as ours does), and of Boost.Graph boost_cores, boost_forest (Kruskal), boost_coloring (sequential) and
boost_matching (greedy), which read what mst reads and print "Boost: X ms, answer N" for each of their runs. Times are
those of the algorithm alone: reading, building and plans are not in them. Walks and layouts are compared by the step.
--seconds limits the repeated calls of a peer, --limit all its calls on a graph, --total the whole run.
"""
import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

graphs = {"rmat_16": "gen:rmat:scale=16,degree=16", "rmat_18": "gen:rmat:scale=18,degree=16",
          "rmat_20": "gen:rmat:scale=20,degree=16",
          "uniform_16": "gen:uniform:rows=65536,degree=16",
          "uniform_18": "gen:uniform:rows=262144,degree=16", "grid_1024": "gen:grid2d:n=1024",
          "uniform_20": "gen:uniform:rows=1048576,degree=16", "grid_2048": "gen:grid2d:n=2048",
          "rmat_13": "gen:rmat:scale=13,degree=16", "tiny": "gen:rmat:scale=9,degree=8"}
threads = os.environ.get("OMP_NUM_THREADS", "2")


class graph:
    """An undirected graph with weights 1 to 255, as arrays and as the files that the programs read."""

    def __init__(self, name, options):
        import numpy as np
        import scipy.io
        import scipy.sparse as sp
        self.folder = Path(options.folder) / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file = str(self.folder / "g.mtx")
        raw = str(self.folder / "raw.mtx")
        subprocess.run([options.spargo, "convert", graphs[name], raw, "--quiet", "--force"], check=True)
        a = scipy.io.mmread(raw).tocoo()
        os.remove(raw)
        n = self.n = a.shape[0]
        low, high = np.minimum(a.row, a.col).astype(np.int64), np.maximum(a.row, a.col)
        key = np.unique((low * n + high)[low != high])
        self.u, self.v = (key // n).astype(np.int32), (key % n).astype(np.int32)
        self.w = np.random.default_rng(1).integers(1, 256, len(key)).astype(np.int32)
        half = sp.coo_array((self.w, (self.v, self.u)), shape=(n, n))
        scipy.io.mmwrite(self.file, sp.coo_array(half + half.T), symmetry="symmetric")
        self.csr = sp.csr_array(half + half.T)

    def write(self, kind):
        """One of the programs' own formats; returns the path."""
        import numpy as np
        path, n, m = self.folder / f"g.{kind}", self.n, self.csr.nnz
        if path.exists():
            return str(path)
        if kind == "pkt":
            path.mkdir()
            np.concatenate([[4, n, m], np.diff(self.csr.indptr)]).astype(np.int32).tofile(path / "b_degree.bin")
            self.csr.indices.astype(np.int32).tofile(path / "b_adj.bin")
        elif kind == "mst":
            body = re.split(rb"\n(?=[^%])", Path(self.file).read_bytes(), maxsplit=2)[2]
            path.write_bytes(b"WeightedEdgeArray\n" + body)
        elif kind in ("adj", "edges"):
            numbers = (np.column_stack([self.u, self.v]).ravel() if kind == "edges"
                       else np.concatenate([[n, m], self.csr.indptr[:-1], self.csr.indices]))
            with open(path, "w") as out:
                out.write("EdgeArray\n" if kind == "edges" else "AdjacencyGraph\n")
                for k in range(0, len(numbers), 1 << 20):
                    out.write("\n".join(map(str, numbers[k:k + (1 << 20)].tolist())) + "\n")
        elif kind == "walks":
            path.mkdir()
            np.concatenate([[4, n, m, 0], np.diff(self.csr.indptr)]).astype(np.int32).tofile(path / "b_degree.bin")
            self.csr.indices.astype(np.int32).tofile(path / "b_adj.bin")
        else:
            head, offsets = ([n, m, 24 + 8 * (n + 1) + 4 * m], np.uint64) if kind == "bin" else ([n, m], np.int32)
            with open(path, "wb") as out:
                for part in (np.array(head), self.csr.indptr):
                    part.astype(offsets).tofile(out)
                self.csr.indices.astype(np.int32).tofile(out)
        return str(path)


class igraph:
    def __init__(self, g):
        import igraph
        import numpy as np
        import warnings
        warnings.simplefilter("ignore")
        self.g = igraph.Graph(g.n, np.column_stack([g.u, g.v]))
        self.w = g.w.tolist()
        self.name = f"igraph {igraph.__version__}"

    def louvain(self, r): return self.g.community_multilevel().modularity
    def leiden(self, r): return self.g.community_leiden("modularity", n_iterations=2).modularity
    def cores(self, r): return max(self.g.coreness())
    def pagerank(self, r): return max(self.g.pagerank(weights=self.w))
    def eigenvector(self, r): return self.largest(self.g.eigenvector_centrality(weights=self.w))
    def hits(self, r): return self.largest(self.g.hub_score(), 1)
    def similarity(self, r): return sum(self.g.similarity_jaccard(pairs=self.g.get_edgelist(), loops=False))
    def largest(self, x, norm=2): return max(x) / sum(a**norm for a in x)**(1 / norm)
    def sources(self, r): self.g.closeness(vertices=range(256))
    def coloring(self, r): return max(self.g.vertex_coloring_greedy()) + 1

    def closeness(self, r):
        reached = [0] * self.g.vcount()
        for part in self.g.connected_components():
            for v in part:
                reached[v] = len(part)
        values = self.g.closeness()
        return sum(c * (k - 1) / (self.g.vcount() - 1) for c, k in zip(values, reached) if k > 1)


class leidenalg:
    def __init__(self, g):
        import leidenalg
        self.g, self.lib = igraph(g).g, leidenalg
        self.name = f"leidenalg {leidenalg.version}"

    def leiden(self, r):
        return self.lib.find_partition(self.g, self.lib.ModularityVertexPartition, n_iterations=2, seed=1).q


class networkit:
    def __init__(self, g):
        import networkit as nk
        nk.setNumberOfThreads(int(threads))
        self.lib = nk
        if hasattr(nk.Graph, "fromCSR"):  # icebug
            import pyarrow
            self.g = nk.Graph.fromCSR(g.n, False, pyarrow.array(g.csr.indices.astype("uint64")),
                                      pyarrow.array(g.csr.indptr.astype("uint64")))
            self.name = f"icebug {nk.__version__}"
        else:
            self.g = nk.GraphFromCoo((g.u, g.v), n=g.n)
            self.g.indexEdges()
            self.weighted = nk.GraphFromCoo((g.w.astype(float), (g.u, g.v)), n=g.n, weighted=True)
            self.name = f"networkit {nk.__version__}"

    def run(self, algorithm):
        self.last = algorithm.run()
        return algorithm

    def modularity(self, algorithm):
        return self.lib.community.Modularity().getQuality(self.run(algorithm).getPartition(), self.g)

    def louvain(self, r): return self.modularity(self.lib.community.PLM(self.g))
    def leiden(self, r): return self.modularity(self.lib.community.ParallelLeiden(self.g, iterations=2))
    def cores(self, r): return self.run(self.lib.centrality.CoreDecomposition(self.g)).maxCoreNumber()
    def forest(self, r): return self.run(self.lib.graph.KruskalMSF(self.weighted)).getForest().totalEdgeWeight()

    def katz(self, r):  # its values do not satisfy the equation
        self.run(self.lib.centrality.KatzCentrality(self.g, r["alpha"], 1., 1e-6))

    def eigenvector(self, r):
        return max(self.run(self.lib.centrality.EigenvectorCentrality(self.weighted, 1e-8)).scores())

    def independent_set(self, r): return sum(self.lib.independentset.Luby().run(self.g))
    def labels(self, r): return self.modularity(self.lib.community.PLP(self.g, maxIterations=r["iterations"]))

    def matching(self, r):
        matcher = self.lib.matching.PathGrowingMatcher(self.g)
        return self.run(matcher).getMatching().size(self.g)

    def diameter(self, r):
        return self.run(self.lib.distance.Diameter(self.g, self.lib.distance.DiameterAlgo.EXACT)).getDiameter()[0]

    def pagerank(self, r):
        algorithm = self.lib.centrality.PageRank(self.weighted, .85, 1e-8)
        algorithm.norm = self.lib.centrality.Norm.L1_NORM
        scores = self.run(algorithm).scores()
        return max(scores) / sum(scores)

    def closeness(self, r):
        kind = self.lib.centrality.ClosenessVariant.GENERALIZED
        return sum(self.run(self.lib.centrality.Closeness(self.g, True, kind)).scores())

    def similarity(self, r):
        triangles = self.lib.sparsification.TriangleEdgeScore(self.g)
        values = self.lib.distance.JaccardSimilarityAttributizer(self.g, self.run(triangles).scores())
        return sum(values.getAttribute())


class graph_tool:
    def __init__(self, g):
        import numpy as np
        from graph_tool import Graph, __version__, centrality, openmp_set_num_threads, topology
        openmp_set_num_threads(int(threads))
        self.centrality, self.topology, self.name = centrality, topology, f"graph-tool {__version__.split()[0]}"
        self.pairs = np.column_stack([g.u, g.v]).astype(np.int64)
        self.g = Graph(directed=False)
        self.g.add_vertex(g.n)
        self.g.add_edge_list(self.pairs)
        self.w = self.g.new_edge_property("double", vals=g.w)

    def cores(self, r): return self.topology.kcore_decomposition(self.g).a.max()
    def forest(self, r): return self.w.a[self.topology.min_spanning_tree(self.g, self.w).a == 1].sum()
    def pagerank(self, r): return self.centrality.pagerank(self.g, weight=self.w, epsilon=1e-8).a.max()
    def hits(self, r): return self.share(self.centrality.hits(self.g, epsilon=1e-8)[2].a)
    def share(self, x): return x.max() / x.sum()
    def similarity(self, r): return self.topology.vertex_similarity(self.g, "jaccard", self.pairs).sum()
    def coloring(self, r): return self.topology.sequential_vertex_coloring(self.g).a.max() + 1
    def independent_set(self, r): return self.topology.max_independent_vertex_set(self.g).a.sum()

    def eigenvector(self, r):  # as ours: until a step changes a value by 1e-8 on average
        return self.centrality.eigenvector(self.g, self.w, epsilon=1e-8 * self.g.num_vertices())[1].a.max()

    def katz(self, r):
        return self.centrality.katz(self.g, r["alpha"], epsilon=1e-6 * self.g.num_vertices()).a.max()

    def closeness(self, r):
        import numpy as np
        labels, sizes = self.topology.label_components(self.g)
        values = self.centrality.closeness(self.g).a * (sizes[labels.a] - 1) / (self.g.num_vertices() - 1)
        return np.nansum(values)  # nan: a vertex without neighbours

    def matching(self, r):
        return self.topology.max_cardinality_matching(self.g, heuristic=True, edges=True).a.sum()


class fa2:
    def __init__(self, g):
        from fa2_modified import ForceAtlas2
        self.name, self.steps, self.csr = "fa2_modified", 5, g.csr.astype(float)
        self.layouter = ForceAtlas2(verbose=False)
        self.before = median_ms(lambda: self.layouter.forceatlas2(self.csr, iterations=0), 0)[1]

    def layout(self, r):
        self.layouter.forceatlas2(self.csr, iterations=self.steps)
        return self.steps


class scipy:
    def __init__(self, g):
        import scipy
        self.csr, self.name = g.csr.astype(float), f"SciPy {scipy.__version__}"

    def forest(self, r):
        from scipy.sparse.csgraph import minimum_spanning_tree
        return minimum_spanning_tree(self.csr).sum()


class program:
    """One run of a program: its times in milliseconds and its answer, found in what it prints."""
    gbbs = (["-s", "-b", "-stats", "-rounds", "4"], r"# Running Time: ([\d.e-]+)", 1e3)
    pbbs = (["-r", "5"], r"Parlay time: ([\d.]+)", 1e3)
    boost = ("mst", [], r"Boost: ([\d.]+) ms", 1, r"answer (\d+)")
    rows = {"louvain": [("gve_louvain", "mtx", [],
                         r"> \{0*([\d.]+)ms, .*louvainStaticOmp", 1, r"([\d.]+) modularity\} louvain")],
            "leiden": [("gve_leiden", "mtx", [],
                        r"\{0*([\d.]+)ms, .*leidenStaticOmp", 1, r"([\d.]+) modularity.*leidenStatic")],
            "cores": [("kcore", "bin", ["-s", "-i"], r"Round \d: ([\d.]+)", 1e3, r"Max coreness: (\d+)"),
                      ("boost_cores", *boost)],
            "trusses": [("pkt", "pkt", [], r"Parallel K-Truss: ([\d.]+)s", 1e3, r"Max-truss: (\d+);")],
            "diameter": [("fdiam", "egr", [], r"runtime: ([\d.]+)", 1e3, r"final diameter: (\d+)")],
            "forest": [("mst", "mst", *pbbs, None), ("boost_forest", *boost)],
            "coloring": [("gbbs_coloring", "bin", *gbbs, r"num_colors = (\d+)"), ("boost_coloring", *boost)],
            "independent_set": [("pbbs_mis", "adj", *pbbs, None), ("pbbs_mis_nd", "adj", *pbbs, None),
                                ("gbbs_mis", "bin", *gbbs, r"MaximalIndependentSet size: (\d+)"),
                                *((f"indigo_mis{kind}", "egr", [], r"runtime: ([\d.]+)", 1e3,
                                   r"elements in set: (\d+)") for kind in ("", "_data"))],
            "matching": [("pbbs_matching", "edges", *pbbs, None),
                         ("gbbs_matching", "bin", *gbbs, r"matching size = (\d+)"), ("boost_matching", *boost)],
            "walks": [(f"thunderrw{kind}", "walks", ["-em", "0", "-sm", "0", "-l", "81", "-n", threads, "-f"],
                       r"(?<!\d )Walking time \(seconds\): ([\d.]+)", 1e3, r"(?<!\d )Num of steps: (\d+)")
                      for kind in ("", "_kept")]}

    @classmethod
    def run(cls, g, row, options):
        name, kind, flags, times, unit, answer = row
        path = Path(options.programs) / name
        file = g.file if kind == "mtx" else g.write(kind)
        extra = {"pkt": ["org"], "indigo_mis": ["1"], "indigo_mis_data": ["1"]}.get(name, [])
        chosen = g.folder / "chosen"
        line = [str(path), *flags, *(["-o", str(chosen)] if answer is None else []), file, *extra]
        environment = dict(os.environ, OMP_NUM_THREADS=threads, PARLAY_NUM_THREADS=threads)
        calls = 3 if name in ("pkt", "fdiam", "thunderrw") else 1
        text = "".join(subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100,
                                      env=environment).stdout for _ in range(calls))
        found = [float(m.group(1)) * unit for m in re.finditer(times, text, re.M) if m.group(1)]
        if name == "mst" and g.n > 1 << 19:  # reading the file again takes too long
            value = None
        elif name == "pbbs_matching":
            value = len(chosen.read_text().split()) - 1
        elif answer is None and name != "mst":
            value = chosen.read_text().split()[1:].count("1")
        elif name == "mst":
            weights = [int(row.split()[2]) for row in Path(file).read_text().splitlines()[1:]]
            value = sum(weights[int(i)] for i in chosen.read_text().split()[1:])
        else:
            value = float(re.findall(answer, text)[-1])
        return name, statistics.median(found), value


louvain = lambda r: r["modularity"]  # noqa: E731
# case: command, number to compare, graphs, and for each peer how many times as fast Spargo should be.
cases = {
    "louvain": ("communities --method louvain", louvain, "rmat_16 rmat_18 uniform_16 uniform_18 grid_1024",
                {"program": 1.2, "networkit": 3, "igraph": 10}),
    "leiden": ("communities --method leiden --iterations 2", louvain, "rmat_16 rmat_18 uniform_16 uniform_18 grid_1024",
               {"program": 1.2, "networkit": 3, "igraph": 10, "leidenalg": 10}),
    "cores": ("cores", lambda r: r["max_core"], "rmat_18 rmat_20 uniform_18 grid_1024",
              {"program": 1.5, "networkit": 1.5, "igraph": 1.5, "graph_tool": 1.5}),
    "trusses": ("trusses", lambda r: r["max_k"], "rmat_18 uniform_18 grid_1024", {"program": 1.3}),
    "forest": ("forest --weights file", lambda r: r["total_weight"], "rmat_18 rmat_20 uniform_18 grid_1024",
               {"program": 2, "scipy": 4, "networkit": 4, "graph_tool": 4}),
    "pagerank": ("pagerank --weights file --tolerance 1e-8", lambda r: r["top"][0][1], "rmat_18 uniform_18 grid_1024",
                 {"igraph": 3, "networkit": 3, "graph_tool": 3}),
    "eigenvector": ("eigenvector --weights file --tolerance 1e-8", lambda r: r["top"][0][1], "rmat_18 uniform_18",
                    {"igraph": 3, "networkit": 3, "graph_tool": 3}),
    "katz": ("katz", lambda r: r["top"][0][1], "rmat_18 uniform_18", {"networkit": 3, "graph_tool": 3}),
    "hits": ("hits", lambda r: r["hubs"][0][1], "rmat_18 uniform_18", {"igraph": 3, "graph_tool": 3}),
    "closeness": ("closeness", lambda r: r["sum"], "rmat_13", {"igraph": 10, "networkit": 10, "graph_tool": 10}),
    "sources": ("closeness --sources 256", None, "rmat_16 uniform_16", {"igraph": 10}),
    "diameter": ("closeness --diameter", lambda r: r["diameter"], "rmat_18 rmat_20 grid_1024",
                 {"program": 1.2, "networkit": 1.2}),
    "similarity": ("similarity --pairs edges", lambda r: r["sum"], "rmat_16 rmat_18 uniform_18 grid_1024",
                   {"networkit": 3, "igraph": 3, "graph_tool": 3}),
    "coloring": ("coloring", lambda r: r["colors"], "rmat_20 uniform_20 grid_2048",
                 {"program": 2, "igraph": 2, "graph_tool": 2}),
    "independent_set": ("independent-set", lambda r: r["size"], "rmat_20 uniform_20 grid_2048",
                        {"program": 2, "networkit": 2, "graph_tool": 2}),
    "matching": ("matching", lambda r: r["edges"], "rmat_20 uniform_20 grid_2048",
                 {"program": 2, "networkit": 2, "graph_tool": 2}),
    "labels": ("communities --method cdlp", None, "rmat_20 uniform_20 grid_2048", {"networkit": 2}),
    "walks": ("walks --walkers all --length 80", lambda r: r["steps"], "rmat_20 uniform_20 grid_2048", {"program": 2}),
    "layout": ("layout --start random --iterations 10", lambda r: r["iterations"] + 1,
               "rmat_16 uniform_16 grid_1024", {"fa2": 3}),
}
by_step = ("walks", "layout")
by_quality = ("louvain", "leiden", "coloring", "independent_set", "matching")
too_slow = {(c, g, p) for c in ("louvain", "leiden", "similarity") for g in ("rmat_18", "uniform_18")
            for p in ("igraph", "leidenalg")} | {("cores", "rmat_20", "igraph"), ("diameter", "grid_1024", "networkit"),
                                                ("leiden", "grid_1024", "leidenalg")}


def spargo_report(g, command, options):
    name, *flags = command.split()
    line = [options.spargo, name, g.file, *flags, "--undirected", "--device", "cpu", "--threads", threads,
            "--no-validate", "--quiet", "--json", "-"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60)
    if done.returncode not in (0, 3):
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}")
    report = json.loads(done.stdout)
    return report, report["time_ms"]["median"]


def median_ms(call, seconds):
    times, began = [], time.perf_counter()
    while len(times) < 5 and (not times or time.perf_counter() - began < seconds):
        start = time.perf_counter()
        answer = call()
        times.append((time.perf_counter() - start) * 1e3)
    return answer, statistics.median(times)


def agree(case, ours, theirs):
    if ours is None or theirs is None:
        return ""
    if case in by_quality:  # not one right answer
        return f"{ours:.5g} / {theirs:.5g}" if max(ours, theirs) < 1 else f"{ours:.0f} / {theirs:.0f}"
    if case in by_step:
        return ""
    return "same" if math.isclose(ours, theirs, rel_tol=1e-5) else f"DIFFER: {ours} / {theirs}"


def compare_graph(name, options, out):
    began = time.perf_counter()
    wanted = [c for c, case in cases.items()
              if (name == "tiny" or name in case[2].split()) and re.search(options.only, f"{c}/{name}")]
    if not wanted:
        return
    g, reports = graph(name, options), {}
    for case in wanted:
        try:
            reports[case] = spargo_report(g, cases[case][0], options)
        except Exception as e:
            print(f"{case:12}{name:12}  Spargo: {type(e).__name__}: {str(e)[:90]}", file=out, flush=True)
    for peer in ("program", "networkit", "scipy", "igraph", "leidenalg", "graph_tool", "fa2"):
        mine = [c for c in reports if peer in cases[c][3] and (c, name, peer) not in too_slow]
        if not mine or peer in options.without:
            continue
        child = os.fork()  # a peer that crashes or takes too long ends alone
        if child == 0:
            compare_peer(peer, g, {c: reports[c] for c in mine}, options, out)
            os._exit(0)
        end = min(time.perf_counter() + options.limit, options.began + options.total)
        while os.waitpid(child, os.WNOHANG)[0] == 0:
            time.sleep(.05)
            if time.perf_counter() > end:
                os.kill(child, 9)
                os.waitpid(child, 0)
                print(f"{'':12}{name:12}{peer:17}  stopped: out of time", file=out, flush=True)
                break
    print(f"# {name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)


def compare_peer(peer, g, reports, options, out):
    try:
        other = program if peer == "program" else globals()[peer](g)
    except ImportError:
        return
    runs = [(c, row) for c in reports for row in (program.rows[c] if peer == "program" else [None])]
    for case, found in runs:
        (report, ours), (command, number, _, goals) = reports[case], cases[case]
        try:
            if found:
                if not options.programs or not (Path(options.programs) / found[0]).exists():
                    continue
                label, theirs, answer = program.run(g, found, options)
            else:
                label = other.name
                answer, theirs = median_ms(lambda: getattr(other, case)(report), options.seconds)
            theirs -= getattr(other, "before", 0) if not found else 0
            if case in by_step:  # the time of as many steps as ours
                theirs *= number(report) / answer
            ratio = theirs / ours
            row = (f"{ours:10.2f}{theirs:11.2f}{ratio:9.2f}{goals[peer]:6} {'' if ratio >= goals[peer] else 'short':6}"
                   f"{agree(case, number and number(report), answer)}")
        except Exception as e:  # a peer's failure is a row, not the end of the table
            label, row = found[0] if found else peer, f"  {type(e).__name__}: {str(e)[:90]}"
        print(f"{case:12}{g.folder.name:12}{label:17}{row}", file=out, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spargo", default="spargo")
    parser.add_argument("--programs")
    parser.add_argument("--only", default="", help="cases ALGORITHM/GRAPH that match")
    parser.add_argument("--graphs", default="rmat_18,rmat_16,rmat_13,uniform_18,rmat_20,grid_1024,uniform_16")
    parser.add_argument("--without", default="", help="peers to leave out")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--limit", type=float, default=60, help="seconds for all cases of a peer on a graph")
    parser.add_argument("--total", type=float, default=300)
    parser.add_argument("--folder", default=tempfile.gettempdir() + "/spargo_peers")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    options.began = time.perf_counter()
    try:
        import scipy  # noqa: F401
    except ImportError as e:
        sys.exit(f"cpu_peers.py: {e} (expected SciPy)")
    with open(options.output, "w") if options.output else open(1, "w", closefd=False) as out:
        print(f"{threads} CPU threads, medians in ms; the goal is the ratio wanted; Leiden takes two passes in all "
              f"but GVE\n\n{'algorithm':12}{'graph':12}{'peer':17}"
              f"{'Spargo':>10}{'peer':>11}{'ratio':>9}{'goal':>6}       answers", file=out, flush=True)
        for name in options.graphs.split(","):
            compare_graph(name, options, out)


main()
