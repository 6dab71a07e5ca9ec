#!/usr/bin/env python3
"""Modularity of Louvain and Leiden beside the best of igraph and leidenalg over several seeds, and how well planted
partitions are recovered.

    python apps/bench/communities_quality.py FILE...        undirected and without weights
    python apps/bench/communities_quality.py --planted      normalized mutual information with the planted partition

Needs Spargo's Python package, igraph and leidenalg; --planted also networkx. Leiden takes two passes in igraph and
leidenalg, and what Spargo takes by default. `short` is by how many percent the best of them is higher.
"""
import argparse
import random
import sys
from pathlib import Path

import numpy as np


def partitions(edges, vertices, seeds):
    """Memberships and modularity: Spargo's Louvain and Leiden, then igraph's and leidenalg's of every seed."""
    import igraph
    import leidenalg
    import spargo
    g = igraph.Graph(vertices, edges)
    ours = spargo.Graph.from_edges(edges[:, 0], edges[:, 1], vertices=vertices, directed=False)
    found = {}
    for method in ("louvain", "leiden"):
        labels = np.unique(ours.communities(method).labels, return_inverse=True)[1].tolist()
        found[method] = [(g.modularity(labels), labels)]
    peers = {"igraph Louvain": [], "igraph Leiden": [], "leidenalg": []}
    for seed in range(seeds):
        random.seed(seed)
        kind = leidenalg.ModularityVertexPartition
        for name, p in (("igraph Louvain", g.community_multilevel()),
                        ("igraph Leiden", g.community_leiden("modularity", n_iterations=2)),
                        ("leidenalg", leidenalg.find_partition(g, kind, n_iterations=2, seed=seed + 1))):
            peers[name].append((p.modularity, p.membership))
    return found | peers


def compare_files(files, seeds):
    import spargo
    print(f"{'graph':28}{'vertices':>9}{'edges':>9}  {'Louvain':>8}{'igraph':>9}{'short':>7}  {'Leiden':>8}"
          f"{'igraph':>9}{'leidenalg':>10}{'short':>7}")
    for file in files:
        try:
            g = spargo.Graph.read(file, directed=False)
        except spargo.Error as e:
            print(f"{Path(file).name:28}  {str(e)[:90]}", file=sys.stderr)
            continue
        rows = np.repeat(np.arange(g.vertices), np.diff(np.asarray(g.offsets)))
        edges = np.column_stack([rows, np.asarray(g.indices)])
        edges = edges[edges[:, 0] <= edges[:, 1]]
        if not len(edges):
            continue
        best = {name: max(q for q, _ in all_seeds) for name, all_seeds in partitions(edges, g.vertices, seeds).items()}
        leiden = max(best["igraph Leiden"], best["leidenalg"])
        short = [100 * (1 - ours / theirs) if theirs > 0 else 0.
                 for ours, theirs in ((best["louvain"], best["igraph Louvain"]), (best["leiden"], leiden))]
        print(f"{Path(file).name:28}{g.vertices:9}{len(edges):9}  {best['louvain']:8.5f}{best['igraph Louvain']:9.5f}"
              f"{short[0]:7.2f}  {best['leiden']:8.5f}{best['igraph Leiden']:9.5f}{best['leidenalg']:10.5f}"
              f"{short[1]:7.2f}", flush=True)


def planted_graphs():
    import networkx as nx
    for mixing in (.1, .2, .3, .4, .5, .6):
        for seed in range(20):
            try:
                g = nx.LFR_benchmark_graph(1000, 3, 1.5, mixing, average_degree=15, max_degree=50, min_community=20,
                                           max_community=100, seed=seed)
            except nx.ExceededMaxIterations:
                continue
            yield f"LFR 1000, mixing {mixing}", g, [min(g.nodes[v]["community"]) for v in range(1000)]
            break
    for groups, size, inside, outside in ((20, 50, .3, .005), (20, 50, .3, .015), (20, 50, .3, .025),
                                          (100, 100, .15, .001), (100, 100, .15, .002), (100, 100, .15, .003)):
        g = nx.planted_partition_graph(groups, size, inside, outside, seed=1)
        yield f"{groups} x {size}, {inside} / {outside}", g, [v // size for v in range(groups * size)]


def compare_planted():
    import igraph
    names = ("louvain", "leiden", "igraph Louvain", "igraph Leiden", "leidenalg")
    print(f"{'graph':28}" + "".join(f"{name:>16}" for name in names))
    for title, g, truth in planted_graphs():
        edges = np.array([e for e in g.edges() if e[0] != e[1]])
        truth = np.unique(truth, return_inverse=True)[1].tolist()
        found = partitions(edges, g.number_of_nodes(), 1)
        print(f"{title:28}" + "".join(
            f"{igraph.compare_communities(found[name][0][1], truth, method='nmi'):16.4f}" for name in names),
            flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--planted", action="store_true")
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    if options.planted:
        return compare_planted()
    compare_files(options.files, options.seeds)


main()
