"""networkx's centralities by the backend, beside its own."""

import networkx as nx
import numpy as np
import pytest
import spargo
from networkx_cases import CASES, both, plain


@CASES
def test_ranks(g):
    unweighted = g.copy()
    for *_, data in unweighted.edges(data=True):
        data.clear()
    for options in ({}, {"alpha": 0.5}, {"personalization": {next(iter(g)): 1}}, {"nstart": dict.fromkeys(g, 2)}):
        want, got = both("pagerank", unweighted, tol=1e-11, max_iter=1000, **options)
        assert list(got) == list(want) and plain(got)
        np.testing.assert_allclose(list(got.values()), list(want.values()), atol=1e-8)
    if not g.is_multigraph():
        for options in ({}, {"normalized": False}, {"endpoints": True}):
            want, got = both("betweenness_centrality", g, **options)
            assert list(got) == list(want) and plain(got)
            np.testing.assert_allclose(list(got.values()), list(want.values()), atol=1e-12)
        for options in ({}, {"normalized": False}):
            want, got = both("edge_betweenness_centrality", g, **options)
            assert list(got) == list(want) and plain(got)
            np.testing.assert_allclose(list(got.values()), list(want.values()), atol=1e-12)
    with pytest.raises(nx.PowerIterationFailedConvergence):
        nx.pagerank(unweighted, max_iter=0, backend="spargo")
    if g.number_of_edges() > 5:
        with pytest.raises(nx.PowerIterationFailedConvergence):
            nx.pagerank(unweighted, max_iter=1, tol=1e-16, backend="spargo")


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("number", [int, float])
def test_ranks_over_weights(kind, number):
    rng = np.random.default_rng(7)
    for seed in range(40):
        n = int(rng.integers(1, 30))
        g = kind()
        g.add_nodes_from(range(n))
        for _ in range(int(rng.integers(0, 4 * n))):
            u, v = map(int, rng.integers(0, n, 2))
            weight = number(rng.integers(0, 2 if u % 4 == 3 else 9)) * number(1 if number is int else 0.37)
            g.add_edge(u, v, **({"w": weight} if rng.random() < 0.9 else {}))
        for options in ({}, {"alpha": 0.6}, {"personalization": {n - 1: 1}}, {"weight": None}):
            want, got = both("pagerank", g, **{"weight": "w", "tol": 1e-12, "max_iter": 2000, **options})
            assert list(got) == list(want) and plain(got)
            np.testing.assert_allclose(list(got.values()), list(want.values()), atol=1e-9, err_msg=f"{seed} {options}")
    of = spargo.Graph.from_networkx(nx.DiGraph([(0, 1, {"weight": 3}), (0, 2), (1, 0), (2, 0)]), weight="weight")
    ranks = of.pagerank(weighted=True, tolerance=1e-14).ranks
    np.testing.assert_allclose(ranks, of.pagerank(weighted=True, tolerance=1e-14, algorithm="jacobi").ranks, atol=1e-12)
    assert ranks[1] > 2 * ranks[2] and np.isclose(*of.pagerank().ranks[1:])


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_power_iterations(kind):
    rng = np.random.default_rng(11)
    compared = 0
    for seed in range(60):
        n = int(rng.integers(1, 25))
        g = kind()
        g.add_nodes_from(map(str, range(n)))
        for _ in range(int(rng.integers(0, 4 * n))):
            u, v = map(str, rng.integers(0, n, 2))
            g.add_edge(u, v, **({"weight": float(rng.integers(0, 9)) / 4} if rng.random() < 0.9 else {}))
        start = {v: float(rng.integers(0, 5)) for v in g}
        start["0"] = 1.0
        calls = [("eigenvector_centrality", o) for o in ({}, {"weight": "weight"}, {"nstart": start}, {"tol": 1e-9, "max_iter": 3000})]
        calls += [("katz_centrality", {"alpha": 0.01, **o}) for o in (
            {}, {"weight": "weight"}, {"beta": start}, {"beta": 2, "normalized": False}, {"nstart": start, "tol": 1e-10})]
        for name, options in calls:
            try:
                want = getattr(nx, name)(g, backend="networkx", **options)
            except nx.PowerIterationFailedConvergence:
                with pytest.raises(nx.PowerIterationFailedConvergence):
                    getattr(nx, name)(g, backend="spargo", **options)
                continue
            got = getattr(nx, name)(g, backend="spargo", **options)
            assert list(got) == list(want) and plain(got)
            np.testing.assert_allclose(list(got.values()), list(want.values()), rtol=1e-9, atol=1e-12, err_msg=f"{seed} {name} {options}")
            compared += 1
    assert compared > 300
    with pytest.raises(nx.PowerIterationFailedConvergence):
        nx.eigenvector_centrality(kind([(0, 1), (1, 2)]), max_iter=0, backend="spargo")
    with pytest.raises(nx.NetworkXError, match="all zero"):
        nx.eigenvector_centrality(kind([(0, 1)]), nstart={0: 0, 1: 0}, backend="spargo")
    with pytest.raises(nx.NetworkXPointlessConcept):
        nx.eigenvector_centrality(kind(), backend="spargo")
    with pytest.raises(nx.PowerIterationFailedConvergence):
        nx.katz_centrality(nx.complete_graph(20, kind), alpha=0.1, backend="spargo")
    assert nx.katz_centrality(kind(), backend="spargo") == {} and nx.hits(kind(), backend="spargo") == ({}, {})
    for name, options in (("katz_centrality", {"alpha": -0.1}), ("katz_centrality", {"beta": -1.0}), ("katz_centrality", {"beta": {0: 1}}),
                          ("eigenvector_centrality", {"nstart": {0: -1, 1: 3}}), ("hits", {"normalized": False}), ("hits", {"nstart": {0: 1, 1: 2}})):
        with pytest.raises(NotImplementedError):
            getattr(nx, name)(kind([(0, 1)]), backend="spargo", **options)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiDiGraph])
def test_hits(kind):
    rng = np.random.default_rng(12)
    compared = 0
    for seed in range(40):
        n = int(rng.integers(3, 25))
        g = kind()
        g.add_nodes_from(range(n))
        for u, v in rng.integers(0, n, (4 * n, 2)):
            g.add_edge(int(u), int(v), **({"weight": float(rng.integers(1, 9))} if seed % 2 else {}))
        largest = np.linalg.svd(nx.adjacency_matrix(g, dtype=float).toarray(), compute_uv=False)
        if largest[1] > 0.95 * largest[0]:
            continue
        want, got = both("hits", g)
        for a, b in zip(want, got):
            assert list(a) == list(b) and plain(b)
            np.testing.assert_allclose(list(b.values()), list(a.values()), atol=1e-7, err_msg=f"{seed}")
        compared += 1
    assert compared > 15


def test_weights_that_matter_go_to_networkx():
    g = nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 0)])
    g.add_edge(1, 2, weight=2**60 + 1)
    with pytest.raises(NotImplementedError):
        nx.pagerank(g, backend="spargo")
    with nx.config(backend_priority=["spargo"]), nx.config.backends.spargo(smallest_graph=0):
        assert nx.pagerank(g) == nx.pagerank(g, backend="networkx")
    g.add_edge(1, 2, weight=-0.25)
    with pytest.raises(spargo.Error, match="has weight -0.25"):
        spargo.Graph.from_networkx(g, weight="weight").pagerank(weighted=True)
    g.add_edge(1, 2, weight=-1)
    with pytest.raises(NotImplementedError):
        nx.single_source_dijkstra_path_length(g, 0, backend="spargo")


@CASES
def test_samples_are_networkxs(g):
    if g.is_multigraph():
        pytest.skip("multigraphs are networkx's")
    for k in {1, 2, len(g) // 2 or 1, len(g)}:
        for seed in (1, 7):
            for options in ({}, {"normalized": False}):
                for endpoints in (False, True):
                    want, got = both("betweenness_centrality", g, k=k, seed=seed, endpoints=endpoints, **options)
                    assert list(got) == list(want) and plain(got)
                    np.testing.assert_allclose(list(got.values()), list(want.values()), rtol=1e-9, atol=1e-12)
                want, got = both("edge_betweenness_centrality", g, k=k, seed=seed, **options)
                assert list(got) == list(want) and plain(got)
                np.testing.assert_allclose(list(got.values()), list(want.values()), rtol=1e-9, atol=1e-12)
    import random

    random.seed(3)
    want = nx.betweenness_centrality(g, k=3, seed=random, backend="networkx")
    random.seed(3)
    got = nx.betweenness_centrality(g, k=3, seed=random, backend="spargo")
    np.testing.assert_allclose(list(got.values()), list(want.values()), atol=1e-12)
