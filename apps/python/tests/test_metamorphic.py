"""What must hold when a graph is changed: other numbers of the vertices, isolated vertices, scaled weights, more threads."""

import numpy as np
import pytest
import spargo

TIGHT = {"tolerance": 1e-13, "max_iterations": 20000}


def drawn(seed, directed):
    """Ends and weights of a sparse graph with loops, duplicates and isolated vertices."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 80))
    m = int(rng.integers(n, 4 * n))
    u, v = (n * rng.random((2, m)) ** 2).astype(np.int64)
    u, v = np.append(u, [0, 1, 2]), np.append(v, [1, 2, 0])  # a cycle, so that HITS and eigenvectors have a limit
    return n, u, v, rng.integers(1, 9, u.size).astype(float), directed


def made(n, u, v, w, directed):
    return spargo.Graph.from_edges(u, v, w, vertices=n, directed=directed, duplicates="sum")


def vectors(g, scale=1.0):
    """A value for each vertex, by name."""
    hits = g.hits(weighted=True, **TIGHT)
    return {
        "core": g.core_numbers(),
        "closeness": g.closeness(scaled=False),
        "harmonic": g.closeness(measure="harmonic"),
        "lower": g.eccentricities()[0],
        "upper": g.eccentricities()[1],
        "katz": g.katz(alpha=0.004 / scale, weighted=True, normalized=False, **TIGHT).values,
        "eigenvector": g.eigenvector(weighted=True, **TIGHT).values,
        "hubs": hits.hubs,
        "authorities": hits.authorities,
    }


def pairs(g, number):
    """Values of pairs of vertices by `number`: similarity of edges, truss numbers."""
    found = {}
    for measure in ("jaccard", "cosine", "adamic-adar"):
        s = g.similarity(measure=measure)
        found |= {(measure, *ends(g, number[a], number[b])): x for a, b, x in zip(s.sources, s.targets, s.values)}
    if not g.directed:
        t = g.trusses()
        found |= {("truss", *ends(g, number[a], number[b])): x for a, b, x in zip(t.sources, t.targets, t.numbers)}
    return found


def ends(g, a, b):
    return (a, b) if g.directed else (min(a, b), max(a, b))


def same(ours, theirs, context):
    assert ours.keys() == theirs.keys()
    for key in ours:
        assert np.allclose(ours[key], theirs[key], rtol=1e-7, atol=1e-9), (context, key)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_other_numbers_of_the_vertices(seed, directed):
    n, u, v, w, _ = drawn(seed, directed)
    to = np.random.default_rng(seed + 100).permutation(n)
    g, h = made(n, u, v, w, directed), made(n, to[u], to[v], w, directed)
    ours, theirs = vectors(g), vectors(h)
    largest = np.count_nonzero(ours["lower"] >= 0)
    ours |= {"rank": g.pagerank(weighted=True, **TIGHT).ranks}
    theirs |= {"rank": h.pagerank(weighted=True, **TIGHT).ranks}
    if set(to[np.flatnonzero(ours["lower"] >= 0)]) != set(np.flatnonzero(theirs["lower"] >= 0)):
        assert largest == np.count_nonzero(theirs["lower"] >= 0)  # another component of the same size
        for key in ("lower", "upper"):
            del ours[key], theirs[key]
    same(ours, {key: values[to] for key, values in theirs.items()}, (seed, directed))
    same(pairs(g, to), pairs(h, np.arange(n)), (seed, directed))
    if not directed:
        assert g.spanning_forest().total_weight == h.spanning_forest().total_weight
        cuts, others = g.biconnectivity(), h.biconnectivity()
        assert set(to[cuts.articulation_points]) == set(others.articulation_points)
        assert {frozenset(to[e]) for e in cuts.bridges} == {frozenset(e.tolist()) for e in others.bridges}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_isolated_vertices(seed, directed):
    n, u, v, w, _ = drawn(seed, directed)
    g, h = made(n, u, v, w, directed), made(n + 7, u, v, w, directed)
    alone = {"lower": -1, "upper": -1, "katz": 1.0}
    extended = {key: np.append(values, np.full(7, alone.get(key, 0))) for key, values in vectors(g).items()}
    same(extended, vectors(h), (seed, directed))
    same(pairs(g, np.arange(n)), pairs(h, np.arange(n)), (seed, directed))
    for method in ("louvain", "leiden"):
        found, more = g.communities(method), h.communities(method)
        assert more.count == found.count + 7 and more.labels[n:].tolist() == list(range(n, n + 7))
    if not directed:
        assert h.spanning_forest().trees == g.spanning_forest().trees + 7


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_scaled_weights(seed, directed):
    n, u, v, w, _ = drawn(seed, directed)
    g, h = made(n, u, v, w, directed), made(n, u, v, 4 * w, directed)
    same(vectors(g), vectors(h, 4), (seed, directed))
    assert np.array_equal(g.pagerank(weighted=True).ranks, h.pagerank(weighted=True).ranks)
    for method in ("louvain", "leiden"):
        found, more = g.communities(method), h.communities(method)
        assert np.array_equal(found.labels, more.labels) and found.modularity == pytest.approx(more.modularity, abs=1e-12)
    if not directed:
        ours, theirs = g.spanning_forest(), h.spanning_forest()
        assert np.array_equal(ours.sources, theirs.sources) and 4 * ours.total_weight == theirs.total_weight


@pytest.mark.parametrize("directed", [False, True])
def test_any_number_of_threads(directed):
    rng = np.random.default_rng(3)
    u, v = (800 * rng.random((2, 5000)) ** 2).astype(np.int64)
    g = made(800, u, v, rng.integers(1, 9, u.size).astype(float), directed)

    def answers(threads):
        with spargo.config(threads=threads):
            found = {**vectors(g), "louvain": g.communities("louvain").labels, "leiden": g.communities().labels}
            found["top"] = g.similarity(top=3).values
            found["rank"] = g.pagerank(weighted=True, algorithm="jacobi").ranks
            if not directed:
                found |= {"truss": g.trusses().numbers, "forest": g.spanning_forest().sources}
            return found

    one = answers(1)
    for threads in range(2, 9):
        for key, values in answers(threads).items():
            assert np.array_equal(values, one[key]), (threads, key)
