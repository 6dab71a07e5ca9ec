"""Parallel edges count once for paths, as in networkx."""

import networkx as nx
import numpy as np
import pytest
import spargo
from scipy import sparse


def multigraphs():
    for kind in (nx.MultiGraph, nx.MultiDiGraph):
        yield kind([(0, 1), (0, 1), (1, 2), (0, 3), (3, 2)])
        for seed in range(3):
            rng = np.random.default_rng(seed)
            g = nx.empty_graph(30, kind)
            g.add_edges_from(map(tuple, rng.integers(0, 30, (40 + 40 * seed, 2)).tolist()))
            g.add_edges_from(rng.permutation(list(g.edges()))[:25].tolist())
            yield g


CASES = pytest.mark.parametrize("g", list(multigraphs()), ids=str)


@CASES
def test_betweenness_is_networkxs(g):
    graph = spargo.Graph.from_networkx(g)
    for normalized in (True, False):
        normalization = "pairs" if normalized else "none"
        for endpoints in (True, False):
            want = nx.betweenness_centrality(g, normalized=normalized, endpoints=endpoints, backend="networkx")
            got = graph.betweenness(normalization=normalization, endpoints=endpoints)
            np.testing.assert_allclose(got, list(want.values()), rtol=1e-9, atol=1e-12)
            got = nx.betweenness_centrality(g, normalized=normalized, endpoints=endpoints, backend="spargo")
            assert list(got) == list(want) and got == pytest.approx(want, rel=1e-9, abs=1e-12)
        want = nx.edge_betweenness_centrality(g, normalized=normalized, backend="networkx")
        got = graph.edge_betweenness(normalization=normalization)
        starts = np.repeat(np.arange(graph.vertices), graph.degrees)
        ends = list(zip(graph.names(starts), graph.names(graph.indices)))
        keys = [next(key for key in ((u, v, 0), (v, u, 0)) if key in want) for u, v in ends]
        np.testing.assert_allclose(got, [want[key] for key in keys], rtol=1e-9, atol=1e-12)
    largest = graph.edge_betweenness(normalization="maximum")
    np.testing.assert_allclose(largest, got / got.max(), rtol=1e-9)


@CASES
def test_what_counts_parallel_edges_and_what_does_not(g):
    graph, single = spargo.Graph(g), spargo.Graph(nx.DiGraph(g) if g.is_directed() else nx.Graph(g))
    assert graph.is_multigraph() and graph.edges == g.number_of_edges() > single.edges
    assert graph.bfs(0).levels.tolist() == single.bfs(0).levels.tolist()
    assert graph.sssp(0).distances.tolist() == single.sssp(0).distances.tolist()
    assert graph.connected_components(connection="strong")[0] == single.connected_components(connection="strong")[0]
    assert graph.triangles().per_vertex.tolist() == single.triangles().per_vertex.tolist()
    assert graph.clustering().tolist() == single.clustering().tolist()
    assert graph.multi_bfs([0, 1]).distance_sums.tolist() == single.multi_bfs([0, 1]).distance_sums.tolist()
    assert graph.degrees.sum() == graph.indices.size > single.indices.size
    want = list(nx.pagerank(g, tol=1e-12, max_iter=1000, backend="networkx").values())
    np.testing.assert_allclose(graph.pagerank(tolerance=1e-13).ranks, want, atol=1e-9)


@pytest.mark.parametrize("ascending", [True, False])
def test_betweenness_of_a_matrix_with_duplicates(ascending):
    indices = np.array([1, 1, 2, 3, 3] if ascending else [1, 2, 1, 3, 3])
    a = sparse.csr_array((np.ones(5), indices, np.array([0, 3, 4, 5, 5])), shape=(4, 4))
    single = sparse.csr_array(a.toarray() > 0)
    for directed in (True, False):
        got, want = (spargo.Graph.from_scipy(m, directed=directed) for m in (a, single))
        np.testing.assert_allclose(got.betweenness(), want.betweenness())
        by_edge = [sparse.csr_array((g.edge_betweenness(), g.indices, g.offsets), shape=(4, 4)).toarray() for g in (got, want)]
        np.testing.assert_allclose(by_edge[0], by_edge[1])


def test_communities_count_parallel_edges():
    """As votes: 0 has two edges from 2, and one from 1, whose label is smaller."""
    g = nx.MultiDiGraph([(1, 0), (2, 0), (2, 0)])
    assert spargo.Graph(g).communities("cdlp", iterations=1)[1][list(g).index(0)] == list(g).index(2)
    assert spargo.Graph(nx.DiGraph(g)).communities("cdlp", iterations=1)[1][list(g).index(0)] == list(g).index(1)
