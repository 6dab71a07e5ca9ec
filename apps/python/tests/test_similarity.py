"""Similarities: against sets, and against networkx through its backend."""

import networkx as nx
import numpy as np
import pytest
import spargo


def naive(g, measure, u, v):
    common = set(g[u]) & set(g[v])
    a, b, c = len(g[u]), len(g[v]), len(common)
    if c == 0:
        return 0
    sums = {
        "jaccard": c / len(set(g[u]) | set(g[v])),
        "overlap": c / min(a, b),
        "sorensen": 2 * c / (a + b),
        "cosine": c / (a * b) ** 0.5,
        "common-neighbors": c,
        "adamic-adar": sum(1 / np.log(g.degree(w)) for w in common if g.degree(w) > 1),
        "resource-allocation": sum(1 / g.degree(w) for w in common),
    }
    return sums[measure]


MEASURES = "jaccard overlap sorensen cosine common-neighbors adamic-adar resource-allocation".split()


@pytest.mark.parametrize("measure", MEASURES)
def test_edges_pairs_and_top(measure):
    for seed in range(5):
        g = nx.gnm_random_graph(30, 25 * seed, seed=seed)
        made = spargo.Graph.from_networkx(g)
        found = made.similarity(measure=measure)
        assert [*zip(found.sources.tolist(), found.targets.tolist())] == sorted((min(e), max(e)) for e in g.edges)
        assert found.values == pytest.approx([naive(g, measure, u, v) for u, v in zip(found.sources, found.targets)])
        pairs = np.array([[u, v] for u in range(0, 30, 3) for v in range(30)])
        given = made.similarity(pairs, measure=measure)
        assert given.values == pytest.approx([naive(g, measure, u, v) for u, v in pairs.tolist()])
        top = made.similarity(measure=measure, top=3)
        for u in g:
            best = sorted((naive(g, measure, u, v) for v in g if v != u), reverse=True)[:3]
            assert top.values[top.sources == u] == pytest.approx([x for x in best if x > 0])


def test_names_and_refusals():
    g = spargo.Graph([("ann", "cid"), ("bob", "cid"), ("bob", "dan")], directed=False)
    found = g.similarity([("ann", "bob"), ("cid", "dan")])
    assert found.values.tolist() == [0.5, 0.5]
    assert g.similarity(np.empty((0, 2), int)).values.size == 0
    with pytest.raises(spargo.Error, match="two columns"):
        g.similarity(np.zeros((2, 3), int))
    with pytest.raises(spargo.Error, match="unknown measure"):
        g.similarity(measure="euclid")
    with pytest.raises(spargo.Error, match="expected one of them"):
        g.similarity([(0, 1)], top=2)
    with pytest.raises(spargo.Error, match="expected 'edges'"):
        g.similarity("all")


FUNCTIONS = [nx.jaccard_coefficient, nx.adamic_adar_index, nx.resource_allocation_index]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_networkx(function):
    for seed in range(6):
        g = nx.gnm_random_graph(25, 20 * seed, seed=seed)
        pairs = [(u, v) for u in range(0, 25, 2) for v in range(25) if u != v]
        for ebunch in (None, pairs, []):
            expected = list(function(g, ebunch))
            found = list(function(g, ebunch, backend="spargo"))
            assert [(u, v) for u, v, _ in found] == [(u, v) for u, v, _ in expected]
            assert [p for *_, p in found] == pytest.approx([p for *_, p in expected], rel=1e-12)
    with pytest.raises(nx.NodeNotFound, match="Node 99 not in G"):
        function(g, [(0, 99)], backend="spargo")
    for other in (nx.DiGraph([(0, 1)]), nx.MultiGraph([(0, 1)]), nx.Graph([(0, 0), (0, 1)])):
        with pytest.raises((NotImplementedError, nx.NetworkXNotImplemented)):
            function(other, [(0, 1)], backend="spargo")
