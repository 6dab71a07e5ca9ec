"""networkx's components, triangles, trees, communities, trusses and cores by the backend, beside its own."""

import networkx as nx
import numpy as np
import pytest
from networkx_cases import CASES, both, plain
from spargo.networkx import backend, can_run


@CASES
def test_components(g):
    if g.is_directed():
        for kind in ("weakly", "strongly"):
            want, got = both(f"{kind}_connected_components", g)
            assert got == want if kind == "strongly" else set(map(frozenset, got)) == set(map(frozenset, want))
            for name in (f"number_{kind}_connected_components", f"is_{kind}_connected"):
                want, got = both(name, g)
                assert got == want and type(got) is type(want)
        with pytest.raises(nx.NetworkXNotImplemented):
            nx.connected_components(g, backend="spargo")
    else:
        want, got = both("connected_components", g)
        assert got == want  # in networkx's order
        want, got = both("node_connected_component", g, next(iter(g)))
        assert got == want
        for name in ("number_connected_components", "is_connected"):
            want, got = both(name, g)
            assert got == want and type(got) is type(want)


@CASES
def test_triangles(g):
    simple = nx.Graph(g)
    if g.is_multigraph():
        assert isinstance(can_run("triangles", (g,), {}), str)
    some = list(simple)[:3]
    for name in ("triangles", "clustering"):
        for args in ((), (some,), (some[0],), ([*some, "nobody"],)):
            want, got = both(name, simple, *args)
            assert got == pytest.approx(want) and plain(got)
    for name in ("transitivity", "average_clustering"):
        want, got = both(name, simple)
        assert got == pytest.approx(want)


@CASES
@pytest.mark.parametrize("name", ["minimum_spanning", "maximum_spanning"])
def test_spanning_trees(g, name):
    if g.is_directed() or g.is_multigraph():
        assert isinstance(can_run(f"{name}_edges", (g,), {}), str)
        return
    weighted = nx.Graph()
    weighted.add_nodes_from(g)
    weighted.add_weighted_edges_from((u, v, 1.0 + k * 7 % 31 / 4) for k, (u, v) in enumerate(g.edges))
    for h in (nx.Graph(g.edges), weighted):
        want, got = both(f"{name}_edges", h)
        want, got = list(want), list(got)
        assert sum(d.get("weight", 1) for *_, d in got) == sum(d.get("weight", 1) for *_, d in want)
        assert all(h.edges[u, v] == d for u, v, d in got) and len(got) == len(want)
        assert len(list(both(f"{name}_edges", h, data=False)[1])) == len(want)
        want, got = both(f"{name}_tree", h)
        got = backend.convert_to_nx(got)
        assert list(got) == list(want) and got.size("weight") == want.size("weight")
        assert nx.is_forest(got) if got else True
    colourful = nx.Graph([(0, 1, {"color": "red"})])
    assert isinstance(can_run(f"{name}_tree", (colourful,), {}), str)


@CASES
def test_communities(g):
    for weight in ("weight", None):
        ours = nx.community.louvain_communities(g, weight=weight, seed=3, backend="spargo")
        assert sorted(v for part in ours for v in part) == sorted(g) and all(map(plain, ours))
        assert ours == nx.community.louvain_communities(g, weight=weight, seed=3, backend="spargo")
        levels = list(nx.community.louvain_partitions(g, weight=weight, seed=3, backend="spargo"))
        assert levels[-1] == ours and all(map(plain, levels[0]))
        for number, level in enumerate(levels, 1):
            assert level == nx.community.louvain_communities(g, weight=weight, max_level=number, seed=3, backend="spargo")
        for lower, upper in zip(levels, levels[1:]):  # groups of groups
            assert len(upper) < len(lower) and all(any(part <= whole for whole in upper) for part in lower)
        for seed in (np.random.RandomState(1), np.random.default_rng(1)):
            assert nx.community.louvain_communities(g, weight=weight, seed=seed, backend="spargo")
            if not g.is_directed():
                assert nx.community.leiden_communities(g, weight=weight, seed=seed, backend="spargo")
        with pytest.raises(NotImplementedError, match="threshold"):
            nx.community.louvain_partitions(g, weight=weight, threshold=1, backend="spargo")
        theirs = nx.community.louvain_communities(g, weight=weight, seed=3)
        found = nx.community.modularity(g, ours, weight=weight)
        assert found >= 0.96 * nx.community.modularity(g, theirs, weight=weight)
        if not g.is_directed():
            leiden = nx.community.leiden_communities(g, weight=weight, seed=3, backend="spargo")
            assert all(nx.is_connected(g.subgraph(part)) for part in leiden)
            assert nx.community.modularity(g, leiden, weight=weight) >= 0.999 * found
    with pytest.raises(NotImplementedError):  # networkx raises its own
        nx.community.louvain_communities(g, max_level=0, backend="spargo")


@CASES
def test_trusses(g):
    bare = type(g)(g.edges)
    if g.is_directed() or g.is_multigraph() or nx.number_of_selfloops(g):
        assert isinstance(can_run("k_truss", (bare,), {"k": 3}), str)
        return
    for k in (-1, 2, 3, 4, 1000):
        want, got = both("k_truss", bare, k=k)
        assert nx.utils.graphs_equal(want, backend.convert_to_nx(got))
    assert isinstance(can_run("k_truss", (bare,), {"k": 2.5}), str)


@CASES
def test_cores(g):
    if g.is_multigraph() or nx.number_of_selfloops(g):
        assert isinstance(can_run("core_number", (g,), {}), str)
        return
    want, got = both("core_number", g)
    assert got == want and plain(got) and list(got) == list(want)
    bare = type(g)(g.edges)
    want, got = both("k_core", bare, k=2)
    assert nx.utils.graphs_equal(want, backend.convert_to_nx(got))
    with_attributes = nx.Graph([(0, 1, {"color": "red"})])
    assert isinstance(can_run("k_core", (with_attributes,), {}), str)
