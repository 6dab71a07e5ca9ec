#!/usr/bin/env python3
"""A model of the gain by several GPUs or hosts: time = work / P + barriers + bytes received / bandwidth.

    python3 apps/bench/scaling.py           prints the tables of apps/docs/scaling.md, and two sentences
    python3 apps/bench/scaling.py --check   fails if that page differs

Work is the measured time of one device, from the results beside this script. Bytes are those received by one part: rows
are split into contiguous ranges, a vertex is sent once to each part with edges to it, bottom-up frontiers are bits.
Parts are equal and nothing overlaps: optimistic for skewed rows, pessimistic for a halo exchange behind interior rows.
"""
import json
import re
import sys
from math import ceil, exp, log2
from pathlib import Path

here = Path(__file__).parent


def gpu_seconds(file, name):
    runs = json.loads((here / "results" / file).read_text())["benchmarks"]
    return next(run["real_time"] for run in runs if run["name"].startswith(name)) * 1e-3


def host_seconds(name):
    """The last measurement, with 16 threads."""
    text = (here / "results" / "spmv_threads.txt").read_text()
    return float(re.findall(rf"^{re.escape(name)} +([\d.]+) ms", text, re.MULTILINE)[-1]) * 1e-3


class Link:
    """barrier(parts): seconds of a barrier or a small all-reduce; bandwidth: bytes/s into a part; message: seconds per
    part that it receives from."""

    def __init__(self, barrier, bandwidth, message):
        self.barrier, self.bandwidth, self.message = barrier, bandwidth, message

    def step(self, parts, received, others):
        if parts == 1:
            return 0.0
        return self.barrier(parts) + received / self.bandwidth + others * self.message


copy_bandwidth = 4.27e12  # of an H200, bytes/s
# Measured between two H200: a barrier of both grids 2.9 us, peer writes 361 GB/s in both directions at
# once. Assumed to hold for eight GPUs behind a switch.
nvlink = Link(lambda parts: 2.9e-6, 361e9, 0)
# Rounds that the hosts start: 20 us for an exchange (ranks_one_h200.txt), assumed as much again for a sum over ranks.
host_driven = Link(lambda parts: 40e-6, 361e9, 0)
# Assumed: 100 Gbit/s, 2 us per hop of a tree, 1 us per message.
network = Link(lambda parts: 2e-6 * ceil(log2(parts)), 12.5e9, 1e-6)


def grid(work, side, link):
    """A product with the 5-point Laplacian: each part receives a line of the grid from both neighbours."""
    return lambda parts: work / parts + link.step(parts, min(2, parts - 1) * side * 8, min(2, parts - 1))


def conjugate_gradients(work, vectors, side, link):
    """A step: one product, two sums over all parts, ten passes over a vector."""
    product = grid(work, side, link)
    return lambda parts: product(parts) + vectors / parts + 2 * link.step(parts, 0, 0)


def uniform(work, rows, degree, bytes_each, link):
    """Ghosts: the fraction 1 - exp(-degree / parts) of the remote elements, which rows / parts rows need."""
    def time(parts):
        ghosts = rows * (1 - 1 / parts) * (1 - exp(-degree / parts))
        return work / parts + link.step(parts, ghosts * bytes_each, parts - 1)
    return time


def split_columns(work, rows, degree, bytes_each, link):
    """The same with product_split::columns: entries of own columns, 1 / parts of all, are summed during the exchange; y
    and the offsets are read once more at the copy bandwidth."""
    def time(parts):
        if parts == 1:
            return work
        ghosts = rows * (1 - 1 / parts) * (1 - exp(-degree / parts))
        own = work / parts**2
        again = rows / parts * (2 * bytes_each + 8) / copy_bandwidth
        return max(own, link.step(parts, ghosts * bytes_each, parts - 1)) + work / parts - own + again
    return time


# Ghosts of a part, as a share of all vertices. R-MAT 16: of degree 16 as sent by 2, 4 and 8 ranks (exchanged_bytes of
# communities, per round and rank), of degree 8 counted for equal parts of the edges.
rmat_ghosts = {16: {1: 0, 2: 0.31, 4: 0.39, 8: 0.36}, 8: {1: 0, 2: 0.26, 16: 0.21, 128: 0.065, 1024: 0.0125}}


def uniform_ghosts(degree):
    return lambda parts: (1 - 1 / parts) * (1 - exp(-degree / parts))


def label_propagation(work, vertices, ghosts, link, rounds=10):
    """Each round a part receives 4 bytes for each of its ghosts, and two counters are added up."""
    return lambda parts: work / parts + rounds * link.step(parts, vertices * ghosts(parts) * 4, parts - 1)


def search(work, vertices, link, levels=8, bottom_up=3, found=0.1):
    """Three bottom-up levels exchange bits; the other levels the ids of a tenth of all vertices, once per part."""
    def time(parts):
        received = (bottom_up / 8 + found * 4) * vertices * (1 - 1 / parts)
        return work / parts + (levels - 1) * link.step(parts, 0, parts - 1) + link.step(parts, received, parts - 1)
    return time


def search_in_grid(work, vertices, link, levels=8, bottom_up=3, reached=0.5, more_work=1.7):
    """Parts in a grid of `rows` by `columns`. In each bottom-up level and one more a part receives the frontiers of its
    column as bits; in a bottom-up level also the visited bits circulate through its row. Owners receive two indices per
    vertex found. Several columns search for a vertex: `more_work` is measured; bytes are within a fifth of the measured
    ones (ranks_cpu2.txt)."""
    def time(parts):
        rows = max(r for r in range(1, parts + 1) if parts % r == 0 and r * r <= parts)
        columns = parts // rows
        bits = vertices / parts / 8
        received = (bottom_up + 1) * (rows - 1) * bits + bottom_up * (columns - 1) * bits
        received += reached * vertices / parts * 8 * (1 - 1 / columns)
        waits = levels * (link.step(parts, 0, 0) + link.step(rows, 0, rows - 1) + link.step(columns, 0, columns - 1))
        waits += bottom_up * columns * link.step(2, 0, 1)
        return more_work * work / parts + waits + received / link.bandwidth
    return time


def row_and_grid(work, vertices, link):
    """Hosts in a row send fewer ids than GPUs in `search`: found = 0.03 fits the measured bytes."""
    return search(work, vertices, link, found=0.03), search_in_grid(work, vertices, link)


def search_on_hosts(work, vertices, link):
    row, in_grid = row_and_grid(work, vertices, link)
    return lambda parts: row(parts) if parts <= 16 else in_grid(parts)


def least_grid(work, vertices, link):
    """The smallest number of hosts, k * k or k * (k + 1), for which a grid is faster than a row."""
    row, in_grid = row_and_grid(work, vertices, link)
    return next(p for k in range(2, 100) for p in (k * k, k * (k + 1)) if in_grid(p) < row(p))


def table(head, parts, rows):
    lines = [f"| {head} | " + " | ".join(f"{p:,}" for p in parts) + " |", "|---" + "|---:" * len(parts) + "|"]
    for name, time in rows:
        lines.append(f"| {name} | " + " | ".join(f"{time(1) / time(p):.3g}" for p in parts) + " |")
    return "\n".join(lines)


def tables():
    laplacian = gpu_seconds("spmv_h200.json", "spmv/laplacian2d_4096/fp64/cuda/csr:automatic/")
    random = {bits: gpu_seconds("spmv_h200.json", f"spmv/uniform_8m_16/fp{bits}/cuda/csr:automatic/") for bits in (32, 64)}
    rmat24 = gpu_seconds("bfs_rmat24_h200.json", "bfs/rmat_24_16/cuda/direction_optimizing/")
    vectors = 10 * 4096**2 * 8 / copy_bandwidth
    gpus = table("GPUs of one host", (1, 2, 4, 8), [
        ("SpMV fp64, 5-point Laplacian 4096 x 4096", grid(laplacian, 4096, nvlink)),
        ("CG fp64, the same", conjugate_gradients(laplacian, vectors, 4096, nvlink)),
        ("SpMV fp64, uniform, 8.4M rows, 16 per row", uniform(random[64], 8 << 20, 16, 8, nvlink)),
        ("SpMV fp64, the same, columns split too", split_columns(random[64], 8 << 20, 16, 8, nvlink)),
        ("SpMV fp32, the same: a step of PageRank", uniform(random[32], 8 << 20, 16, 4, nvlink)),
        ("BFS, R-MAT 26", search(rmat24 * 4, 1 << 26, nvlink)),
        ("BFS, R-MAT 28", search(rmat24 * 16, 1 << 28, nvlink)),
        # Times of one H200: src/graph/communities/communities_cuda.cu.
        ("label propagation, 10 rounds, uniform, 4.2M rows, 32 per row",
         label_propagation(14.4e-3, 1 << 22, uniform_ghosts(32), host_driven)),
        ("label propagation, 10 rounds, R-MAT 22",
         label_propagation(10.2e-3, 1 << 22, rmat_ghosts[16].get, host_driven)),
    ])
    side, rows = 32768, 1 << 28
    laplacian = host_seconds("spmv/laplacian2d_2000/fp64/cpu/csr:automatic") * (side / 2000) ** 2
    vectors = laplacian * 10 * 8 / (5 * 12 + 24)
    random = host_seconds("spmv/uniform_1m_20/fp64/cpu/csr:automatic") * rows / 1e6 * 16 / 20
    rmat = 4.1e-3 / 8 * 2**10  # R-MAT 20 takes 4.1 ms with two threads (ranks_cpu2.txt): eight times that speed is assumed
    hosts = table("hosts of 16 threads", (1, 2, 16, 128, 1024), [
        ("SpMV fp64, 5-point Laplacian 32768 x 32768", grid(laplacian, side, network)),
        ("CG fp64, the same", conjugate_gradients(laplacian, vectors, side, network)),
        ("SpMV fp64, uniform, 268M rows, 16 per row", uniform(random, rows, 16, 8, network)),
        ("BFS, R-MAT 30", search_on_hosts(rmat, 1 << 30, network)),
        # 16 threads take 210 ms for R-MAT 22 of degree 8 (src/graph/communities/communities.cpp).
        ("label propagation, 10 rounds, R-MAT 30, degree 8",
         label_propagation(0.21 * 2**8, 1 << 30, rmat_ghosts[8].get, network)),
    ])
    slow = Link(network.barrier, network.bandwidth / 10, network.message)
    pays = (f"it pays from {least_grid(rmat, 1 << 30, network)} hosts on, over 10 Gbit/s from "
            f"{least_grid(rmat, 1 << 30, slow)} on")
    row, _ = row_and_grid(rmat, 1 << 30, network)
    best = max(row(1) / row(p) for p in range(1, 1025))
    return gpus, hosts, f"which caps the speedup at {best:.1f}", pays


def main():
    printed = tables()
    if sys.argv[1:] == ["--check"]:
        page = (here.parent / "docs" / "scaling.md").read_text()
        folded = " ".join(page.split())
        if not all(" ".join(part.split()) in folded for part in printed):
            sys.exit("apps/docs/scaling.md does not have what apps/bench/scaling.py prints")
    else:
        print("\n\n".join(printed))


main()
