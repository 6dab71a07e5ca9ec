"""networkx's searches, distances and paths by the backend, beside its own."""

import networkx as nx
import numpy as np
import pytest
from networkx_cases import CASES, both, plain


@CASES
def test_searches(g):
    for source in list(g)[:: max(1, len(g) // 3)]:
        for name in ("bfs_edges", "bfs_predecessors", "bfs_successors"):
            for limit in (None, 0, 1, 2):
                want, got = both(name, g, source, depth_limit=limit)
                assert got == want and plain(got)  # in networkx's order
        for name in ("single_source_shortest_path_length", "single_source_shortest_path", "single_target_shortest_path_length"):
            for cutoff in (None, 0, 1.5, 2):
                want, got = both(name, g, source, cutoff=cutoff)
                assert got == want and plain(got)
        want, got = both("bfs_layers", g, source)
        assert got == want
        for distance in (0, 1, 2, 50):
            want, got = both("descendants_at_distance", g, source, distance)
            assert got == want
    want, got = both("all_pairs_shortest_path_length", g)
    assert dict(got) == dict(want)
    want, got = both("all_pairs_shortest_path_length", g, cutoff=1)
    assert dict(got) == dict(want) and plain(got)


@CASES
def test_distances(g):
    for options in ({}, {"wf_improved": False}):
        want, got = both("closeness_centrality", g, **options)
        assert list(got) == list(want) and plain(got)
        np.testing.assert_allclose(list(got.values()), list(want.values()), rtol=1e-12)
    want, got = both("harmonic_centrality", g)
    assert got == pytest.approx(want, rel=1e-12)
    node = list(g)[-1]
    want, got = both("closeness_centrality", g, u=node)
    assert got == pytest.approx(want) and plain(got)
    for name in ("descendants", "ancestors"):
        want, got = both(name, g, node)
        assert got == want
    connected = nx.is_strongly_connected(g) if g.is_directed() else nx.is_connected(g)
    with pytest.raises(nx.NetworkXError):
        nx.eccentricity(g, -5, backend="spargo")
    for name in ("eccentricity", "diameter", "radius", "center", "periphery"):
        if connected:
            want, got = both(name, g)
            assert got == want and plain(got)
        else:
            with pytest.raises(nx.NetworkXError, match="infinite path length because the"):
                getattr(nx, name)(g, backend="spargo")
    if connected:
        for some in (node, [node, 0]):
            want, got = both("eccentricity", g, some)
            assert got == want and plain(got)


@CASES
@pytest.mark.parametrize("kind", [int, float])
def test_weighted_paths(g, kind):
    g = g.copy()
    rng = np.random.default_rng(1)
    for *_, data in g.edges(data=True):
        if rng.random() < 0.9:  # 1 where it is missing
            data["w"] = kind(rng.integers(0, 10))
    for source in list(g)[:: max(1, len(g) // 3)]:
        want, got = both("single_source_dijkstra_path_length", g, source, weight="w")
        assert got == want and plain(got) and list(got.values()) == sorted(got.values())
        assert all(type(d) is kind or d == 0 for d in got.values()) or kind is int
        _, paths = both("single_source_dijkstra_path", g, source, weight="w")
        assert paths.keys() == want.keys() and plain(paths)
        assert all(nx.path_weight(nx.DiGraph(_lightest(g)), p, "w") == want[v] and p[0] == source and p[-1] == v for v, p in paths.items())
        (lengths, paths) = nx.single_source_dijkstra(g, source, weight="w", backend="spargo")
        assert lengths == want and paths.keys() == want.keys()
        for target in list(g)[:: max(1, len(g) // 3)]:
            if target in want:
                assert nx.dijkstra_path_length(g, source, target, weight="w", backend="spargo") == want[target]
                path = nx.dijkstra_path(g, source, target, weight="w", backend="spargo")
                assert path[0] == source and path[-1] == target
            else:
                with pytest.raises(nx.NetworkXNoPath):
                    nx.dijkstra_path_length(g, source, target, weight="w", backend="spargo")
        want, got = both("single_source_dijkstra_path_length", g, source, weight="w", cutoff=5)
        assert got == want


def _lightest(g):
    made = nx.DiGraph()
    for u, v, w in g.edges(data="w", default=1):
        for a, b in ((u, v),) if g.is_directed() else ((u, v), (v, u)):
            if not made.has_edge(a, b) or made[a][b]["w"] > w:
                made.add_edge(a, b, w=w)
    return made


def test_negative_cutoffs_reach_the_source():
    for g in (nx.path_graph(3), nx.Graph([(0, 1, {"weight": 0}), (1, 2)])):
        for name in ("single_source_dijkstra_path_length", "single_source_dijkstra_path", "single_source_shortest_path_length"):
            want, got = both(name, g, 0, cutoff=-1)
            assert got == want
        assert nx.single_source_dijkstra(g, 0, cutoff=-2, backend="spargo") == ({0: 0}, {0: [0]})


@pytest.mark.parametrize("weight", [1_700_000_000_000_000_000, 2**62, 2**63 - 1, 1e308])
def test_paths_beyond_the_range_are_not_lost(weight):
    g = nx.path_graph(7)
    nx.set_edge_attributes(g, weight, "weight")
    with nx.config(backend_priority=["spargo"]), nx.config.backends.spargo(smallest_graph=0):
        assert nx.dijkstra_path_length(g, 0, 6) == 6 * weight
        assert nx.single_source_dijkstra_path_length(g, 0) == {v: v * weight for v in range(7)}
        assert nx.dijkstra_path(g, 0, 6) == list(range(7))
    with pytest.raises(NotImplementedError):
        nx.dijkstra_path_length(g, 0, 6, backend="spargo")
    if weight == 2**63 - 1:  # what the library has for a vertex that is not reached
        return
    assert nx.dijkstra_path_length(g, 0, 1, backend="spargo") == weight
    assert nx.single_source_dijkstra_path_length(g, 0, cutoff=weight, backend="spargo") == {0: 0, 1: weight} or weight > 2**53
    apart = nx.disjoint_union(nx.path_graph(2), nx.path_graph(2))
    nx.set_edge_attributes(apart, weight, "weight")
    assert nx.single_source_dijkstra_path_length(apart, 0, backend="spargo") == {0: 0, 1: weight}
    with pytest.raises(nx.NetworkXNoPath):
        nx.dijkstra_path_length(apart, 0, 3, backend="spargo")
