"""Colourings, independent sets and matchings: methods of graphs, networkx's functions and SciPy's."""

import networkx as nx
import numpy as np
import pytest
import spargo
import spargo.csgraph as ours
from networkx_cases import CASES as NAMED
from networkx_cases import plain
from scipy import sparse
from scipy.sparse import csgraph as theirs
from spargo.networkx import can_run
from test_graph import CASES, of

ORDERS = ("automatic", "largest-first", "smallest_last", "smallest-first", "random")


def ends(g):
    pairs = np.array(list(g.edges()), dtype=np.int64).reshape(-1, 2)
    return pairs[pairs[:, 0] != pairs[:, 1]].T


@CASES
@pytest.mark.parametrize("order", ORDERS)
def test_methods(g, order):
    graph = of(g)
    u, v = ends(g)
    colors = graph.coloring(order=order, seed=3)
    assert not np.any(colors[u] == colors[v])
    assert np.unique(colors).tolist() == list(range(colors.max(initial=-1) + 1))
    members = graph.independent_set(order=order, seed=3)
    inside = np.isin(np.arange(graph.vertices), members)
    assert not np.any(inside[u] & inside[v]) and np.all(np.diff(members) > 0)
    assert np.all(inside | np.isin(np.arange(graph.vertices), np.concatenate((u[inside[v]], v[inside[u]]))))
    mates = graph.matching(order=order, seed=3)
    matched = np.flatnonzero(mates >= 0)
    assert np.array_equal(mates[mates[matched]], matched) and not np.any((mates[u] < 0) & (mates[v] < 0))
    joined = {frozenset(e) for e in zip(u.tolist(), v.tolist())}
    assert all(frozenset((int(k), int(mates[k]))) in joined for k in matched)
    if order == "smallest_last":
        assert colors.max(initial=-1) <= graph.core_numbers().max(initial=-1)
    with spargo.config(threads=1):
        assert np.array_equal(graph.coloring(order=order, seed=3), colors)


@CASES
def test_bipartite_matchings(g):
    graph = of(g)
    if not nx.is_bipartite(g):
        with pytest.raises(spargo.Error, match="expected a bipartite graph"):
            graph.bipartite_matching()
        return
    mates, cover = graph.bipartite_matching()
    u, v = ends(g)
    assert np.all(cover[u] | cover[v]) and 2 * cover.sum() == np.count_nonzero(mates >= 0)
    assert cover.sum() == len(nx.max_weight_matching(nx.Graph(g), maxcardinality=True))


def test_refusals():
    graph = of(nx.path_graph(4))
    with pytest.raises(spargo.Error, match="unknown order"):
        graph.coloring(order="sideways")
    with pytest.raises(spargo.Error, match="unknown algorithm"):
        graph.matching(algorithm="blossom")
    with pytest.raises(spargo.Error, match="independent_set: seed"):
        graph.independent_set(seed=-1)


@NAMED
def test_networkx_colors(g):
    for strategy in ("largest_first", "smallest_last", "random_sequential"):
        if g.is_directed():
            assert isinstance(can_run("greedy_color", (g,), {"strategy": strategy}), str)
            continue
        colors = nx.greedy_color(g, strategy, backend="spargo")
        assert set(colors) == set(g) and plain(colors)
        assert all(colors[u] != colors[v] for u, v in g.edges() if u != v)
    for strategy in ("DSATUR", "independent_set", lambda graph, colors: list(graph)):
        assert isinstance(can_run("greedy_color", (g,), {"strategy": strategy}), str)
    assert isinstance(can_run("greedy_color", (g,), {"interchange": True}), str)


@NAMED
def test_networkx_sets_and_matchings(g):
    if g.is_directed():
        with pytest.raises(nx.NetworkXNotImplemented):
            nx.maximal_independent_set(g, backend="spargo")
        with pytest.raises(nx.NetworkXNotImplemented):
            nx.maximal_matching(g, backend="spargo")
        return
    found = nx.maximal_independent_set(g, seed=3, backend="spargo")
    assert isinstance(found, list) and plain(found) and found == nx.maximal_independent_set(g, seed=3, backend="spargo")
    inside = set(found)
    assert len(inside) == len(found)
    assert not any(u in inside and v in inside for u, v in g.edges() if u != v)
    assert all(v in inside or any(u in inside for u in g[v]) for v in g)
    assert isinstance(can_run("maximal_independent_set", (g, [next(iter(g))]), {}), str)
    if g.is_multigraph():
        with pytest.raises(nx.NetworkXNotImplemented):
            nx.maximal_matching(g, backend="spargo")
        return
    matching = nx.maximal_matching(g, backend="spargo")
    assert isinstance(matching, set) and plain(matching) and nx.is_maximal_matching(g, matching)


@pytest.mark.parametrize("seed", range(20))
def test_networkx_bipartite(seed):
    g = nx.bipartite.random_graph(30, 20, 0.15, seed=seed)
    g = nx.relabel_nodes(g.subgraph(max(nx.connected_components(g), key=len)), {v: f"n{v}" for v in g})
    want = nx.bipartite.maximum_matching(g, backend="networkx")
    got = nx.bipartite.maximum_matching(g, backend="spargo")
    assert len(got) == len(want) and plain(got) and all(got[got[v]] == v and g.has_edge(v, got[v]) for v in got)
    cover = nx.bipartite.to_vertex_cover(g, want, backend="networkx")
    assert nx.bipartite.to_vertex_cover(g, want, backend="spargo") == cover
    for bad, kind in (
        (nx.empty_graph(2), nx.AmbiguousSolution),
        (nx.cycle_graph(3), nx.NetworkXError),
        (nx.Graph(), nx.NetworkXPointlessConcept),
    ):
        for b in ("networkx", "spargo"):
            with pytest.raises(kind):
                nx.bipartite.hopcroft_karp_matching(bad, backend=b)


@pytest.mark.parametrize("seed", range(20))
def test_scipy(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 40, 2))
    a = sparse.csr_array((rng.random(shape) < 0.1).astype(float)).asformat(("csr", "csc", "coo")[seed % 3])
    for perm_type in ("row", "column"):
        want = theirs.maximum_bipartite_matching(a.tocsr(), perm_type)
        got = ours.maximum_bipartite_matching(a, perm_type)
        assert got.shape == want.shape and got.dtype == want.dtype
        assert np.count_nonzero(got >= 0) == np.count_nonzero(want >= 0)
        places = np.flatnonzero(got >= 0)
        pairs = (got[places], places) if perm_type == "row" else (places, got[places])
        assert np.all(a.toarray()[pairs] != 0) and np.unique(got[places]).size == places.size
    assert ours.structural_rank(a) == theirs.structural_rank(a.tocsr())
    assert ours.structural_rank(spargo.Matrix(a)) == theirs.structural_rank(a.tocsr())
    with pytest.raises(TypeError):
        ours.maximum_bipartite_matching(a.toarray())
    with pytest.raises(ValueError, match="perm_type"):
        ours.maximum_bipartite_matching(a, "diagonal")
