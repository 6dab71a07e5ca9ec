"""`Graph.layout`, its drawings, and networkx's forceatlas2_layout."""

import json
import re

import networkx as nx
import numpy as np
import pytest
import spargo


def karate(**options):
    return spargo.Graph.from_networkx(nx.karate_club_graph(), **options)


def test_positions_repeat_and_depend_on_the_seed():
    g = karate()
    first = g.layout(iterations=50)
    assert first.positions.shape == (34, 2) and first.positions.dtype == np.float64
    assert np.array_equal(first.positions, g.layout(iterations=50).positions)
    assert not np.array_equal(first.positions, g.layout(iterations=50, seed=2).positions)
    with spargo.config(threads=1):
        assert np.array_equal(first.positions, g.layout(iterations=50).positions)
    columns = first.to_arrow().columns
    assert list(columns) == ["id", "x", "y"]


def test_neighbours_are_near():
    graph = nx.planted_partition_graph(3, 20, 0.6, 0.02, seed=4)
    at = spargo.Graph.from_networkx(graph).layout().positions
    lengths = [np.linalg.norm(at[u] - at[v]) for u, v in graph.edges]
    pairs = np.linalg.norm(at[:, None] - at[None], axis=-1)
    assert np.mean(lengths) < 0.6 * pairs.sum() / (60 * 59)


def test_a_start_is_kept_without_steps():
    start = np.arange(68, dtype=float).reshape(34, 2) ** 1.25
    found = karate().layout(start=start, iterations=0)
    assert np.allclose(found.positions, start, rtol=1e-5, atol=1e-3)
    with pytest.raises(spargo.Error, match="expected 2 columns"):
        karate().layout(start=start.T)
    start[3, 1] = np.nan
    with pytest.raises(spargo.Error, match="vertex 3 starts at y = nan"):
        karate().layout(start=start)


def test_weights_and_options():
    g = karate(weight="weight")
    plain = g.layout(iterations=20).positions
    for options in ({"weighted": True}, {"linlog": True}, {"strong_gravity": True}, {"dissuade_hubs": True}, {"gravity": 5}):
        assert not np.array_equal(plain, g.layout(iterations=20, **options).positions), options
    for seed in (-1, 2.5):
        with pytest.raises(spargo.Error, match=f"layout: seed is {seed}"):
            g.layout(seed=seed)
    with pytest.raises(spargo.Error, match="scaling_ratio is 0"):
        g.layout(scaling_ratio=0)
    with pytest.raises(spargo.Error, match="layout: unknown start"):
        g.layout(start="spiral")


def test_the_canvas_has_everything_in_itself():
    graph = nx.relabel_nodes(nx.path_graph(4), {3: "</script><b>"})
    found = spargo.Graph.from_networkx(graph).layout(iterations=5)
    page = found.to_html(groups=[0, 0, 1, 1])
    assert "http" not in page.replace("<!doctype html>", "") and page.count("</script>") == 1
    data = json.loads(re.search(r"const data = (.*);\n", page)[1])
    assert data["ids"][3] == "</script><b>" and len(data["palette"]) == 11
    assert "<iframe" in found._repr_html_() and "<b>" not in found._repr_html_()
    assert spargo.Graph.from_edges([], [], vertices=0).layout().to_html()
    with pytest.raises(spargo.Error, match="4 vertices"):
        found.to_html(groups=[1])


def test_draws_by_matplotlib():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    g = karate()
    ax = g.layout(iterations=20).draw(groups=g.communities(method="leiden").labels)
    assert len(ax.collections) == 2 and len(ax.collections[1].get_offsets()) == 34
    assert len(ax.collections[0].get_segments()) == 78


def test_networkx_positions_by_node():
    graph = nx.les_miserables_graph()
    ours = nx.forceatlas2_layout(graph, seed=3, backend="spargo")
    theirs = nx.forceatlas2_layout(graph, seed=3, backend="networkx")
    assert list(ours) == list(theirs)

    def ratio(pos):
        """Mean length of edges over that of all pairs."""
        at = np.array([pos[v] for v in graph])
        index = {v: i for i, v in enumerate(graph)}
        lengths = [np.linalg.norm(at[index[u]] - at[index[v]]) for u, v in graph.edges]
        pairs = np.linalg.norm(at[:, None] - at[None], axis=-1)
        return np.mean(lengths) / pairs.mean()

    assert ratio(ours) < 1.1 * ratio(theirs)
    # No step: the positions of networkx's random start.
    still = nx.forceatlas2_layout(graph, seed=3, max_iter=0, backend="spargo")
    for node, place in nx.forceatlas2_layout(graph, seed=3, max_iter=0, backend="networkx").items():
        assert np.allclose(still[node], place, atol=1e-4)


def test_networkx_keeps_a_start():
    graph = nx.path_graph(5)
    pos = {v: np.array([10.0 * v, 3.0]) for v in graph}
    found = nx.forceatlas2_layout(graph, pos=pos, max_iter=0, backend="spargo")
    for v in graph:
        assert np.allclose(found[v], pos[v], atol=1e-2)
    partial = {0: np.zeros(2), 4: np.ones(2)}
    first = nx.forceatlas2_layout(graph, pos=partial, max_iter=0, seed=5, backend="spargo")
    second = nx.forceatlas2_layout(graph, pos=partial, max_iter=0, seed=5, backend="networkx")
    for v in graph:
        assert np.allclose(first[v], second[v], atol=1e-4)
    assert nx.forceatlas2_layout(nx.Graph(), backend="spargo") == {}


def test_networkx_runs_what_differs():
    for arguments in ({"dim": 3}, {"node_mass": {0: 2.0}}, {"node_size": {0: 1.0}}, {"store_pos_as": "pos"}):
        with pytest.raises(NotImplementedError):
            nx.forceatlas2_layout(nx.path_graph(4), max_iter=1, backend="spargo", **arguments)
    with pytest.raises(NotImplementedError):
        nx.forceatlas2_layout(nx.path_graph(4, create_using=nx.DiGraph), max_iter=1, backend="spargo")
