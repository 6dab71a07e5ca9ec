"""Vertices have numbers; ids that are no numbers may stand in for them."""

import io

import networkx as nx
import numpy as np
import pytest
import spargo

PAIRS = [("alice", "bob"), ("bob", "carol"), ("alice", "carol"), ("dave", "alice")]
NAMED = {
    "pairs": lambda: spargo.Graph(PAIRS),
    "from_edges": lambda: spargo.Graph.from_edges(*zip(*PAIRS)),
    "networkx": lambda: spargo.Graph(nx.DiGraph(PAIRS)),
    "file": lambda: spargo.Graph.read(io.StringIO("".join(f"{u},{v}\n" for u, v in PAIRS))),
}
CALLS = {
    "bfs": lambda g, v: g.bfs(v).levels,
    "bfs target": lambda g, v: g.bfs(0, target=v).levels,
    "bfs_order": lambda g, v: g.bfs_order(v)[0],
    "multi_bfs": lambda g, v: g.multi_bfs([v, v]).levels,
    "multi_bfs beside a number": lambda g, v: g.multi_bfs([v, 1]).levels,
    "multi_bfs of an array": lambda g, v: g.multi_bfs(np.array([v, v])).levels,
    "sssp": lambda g, v: g.sssp(v).distances,
    "sssp target": lambda g, v: g.sssp(0, target=v).distances,
    "betweenness": lambda g, v: g.betweenness((v,), normalization="none"),
    "edge_betweenness": lambda g, v: g.edge_betweenness([v], normalization="none"),
    "neighbours": lambda g, v: g.neighbours(v),
    "communities": lambda g, v: g.communities("cdlp", iterations=1, initial=[v] * g.vertices)[1],
    "personalization": lambda g, v: g.pagerank(personalization={v: 2, 0: 1}).ranks,
    "guess": lambda g, v: g.pagerank(guess={v: 2}, iterations=1, algorithm="jacobi").ranks,
    "breadth_first_order": lambda g, v: spargo.csgraph.breadth_first_order(g, v)[0],
    "dijkstra": lambda g, v: spargo.csgraph.dijkstra(g, indices=v),
    "shortest_path": lambda g, v: spargo.csgraph.shortest_path(g, indices=[v, v]),
}


@pytest.mark.parametrize("made", NAMED)
@pytest.mark.parametrize("name", CALLS)
def test_a_name_stands_for_its_vertex(name, made):
    g = NAMED[made]()
    for v, node in enumerate(g.nodes):
        if v > 0 or name != "personalization":
            np.testing.assert_array_equal(CALLS[name](g, node), CALLS[name](g, v))
    with pytest.raises(spargo.Error, match=r"no node 'zoe' \(Graph.nodes lists the ids\)"):
        CALLS[name](g, "zoe")
    for plain in (spargo.Graph([(0, 1), (1, 2)]), spargo.Graph.read(io.StringIO("10 20\n20 30\n"))):
        with pytest.raises((TypeError, ValueError)) as caught:
            CALLS[name](plain, "zoe")
        assert "zoe" in str(caught.value) or "integers" in str(caught.value)


def test_other_ids_that_are_no_numbers():
    g = spargo.Graph(nx.grid_2d_graph(3, 3))
    assert g.bfs((1, 1)).levels.tolist() == g.bfs(4).levels.tolist()
    assert g.multi_bfs([(0, 0), (2, 2)]).reached.tolist() == [9, 9]
    assert g.pagerank(personalization={(0, 0): 1.0}).ranks.argmax() == 0
    with pytest.raises(spargo.Error, match=r"no node \(7, 7\)"):
        g.sssp((7, 7))


class Column:
    """An array of another library's, whose elements are hashable arrays."""

    class Element(int):
        pass

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values)

    def __iter__(self):
        return map(self.Element, self.values)


class Index:
    def __index__(self):
        return 2

    __int__ = __index__

    def __eq__(self, other):
        return other == 2

    __hash__ = object.__hash__


def test_integers_of_all_kinds_are_numbers():
    for g in (spargo.Graph(PAIRS), spargo.Graph([(0, 1), (1, 2), (0, 2), (3, 0)])):
        want = g.bfs(2).levels.tolist()
        for number in (2, 2.0, np.int8(2), np.uint64(2), np.float32(2), np.array(2), Index()):
            assert g.bfs(number).levels.tolist() == want
        for several in ([2], (2,), np.array([2], object), np.array([2], np.uint8), Column([2]), range(2, 3), {2}, iter([2])):
            assert g.multi_bfs(several).levels.tolist() == [want]
        for bad in (2.5, None, [2], np.array([2, 3]), "2", b"2", {}):
            with pytest.raises((TypeError, ValueError)):
                g.bfs(bad)
        for bad in ("alice", np.array("alice"), [[0]], [0.5], 0, [None], ["alice", None]):
            with pytest.raises((TypeError, ValueError)):
                g.multi_bfs(bad)
    ragged = spargo.Graph([((0, 0), "a"), ("a", (1, 2, 3))])
    assert ragged.multi_bfs([(0, 0), "a", (1, 2, 3), 1]).reached.tolist() == [3, 2, 1, 2]


def test_an_integer_is_the_number_of_a_vertex():
    g = spargo.Graph.read(io.StringIO("2 1\n1 0\n"), directed=False)
    turned = spargo.Graph(nx.Graph([(2, 1), (1, 0)]))
    assert turned.nodes == [2, 1, 0]
    assert turned.bfs(0).levels.tolist() == [0, 1, 2] and turned.bfs(turned.index(0)).levels.tolist() == [2, 1, 0]
    assert g.pagerank(personalization={0: 1}).ranks.tolist() == g.pagerank(personalization=[1, 0, 0]).ranks.tolist()
    with pytest.raises(spargo.Error, match="vertex 2 twice"):
        spargo.Graph(PAIRS).pagerank(personalization={"carol": 1, 2: 1})
    with pytest.raises(spargo.Error, match="id 30 is vertex 2"):
        spargo.Graph.read(io.StringIO("10 20\n20 30\n")).pagerank(guess={30: 1})


def test_names_are_given_for_any_sequence_of_vertices():
    g = spargo.Graph(PAIRS)
    assert g.names([2, 0]) == g.names(np.array([2, 0])) == ["carol", "alice"]
    assert spargo.Graph("gen:path:n=4").names([2, 0]) == [2, 0] and g.names([]) == []


def test_ids_are_numbered_the_same_at_every_door():
    want = list(NAMED["pairs"]().nodes)
    assert want == ["alice", "bob", "carol", "dave"] and all(list(made().nodes) == want for made in NAMED.values())


def test_names_of_vertices_that_are_not_there_are_refused():
    for g in (spargo.Graph([("a", "b")]), spargo.Graph([(0, 1)]), spargo.Graph.read(io.StringIO("10 30\n"))):
        for wrong in ([0, -1], [2], -1):  # a walk that has ended, a vertex without a mate
            with pytest.raises(spargo.Error, match="is out of range: vertices are numbered 0 to 1"):
                g.names(wrong)
        assert g.names([]) == []
