"""What could be read in two ways or would lose something is refused; graphs stand where matrices do."""

import io
import pathlib
import re

import networkx as nx
import numpy as np
import pytest
import spargo
from scipy import sparse

TRIPLES = [(0, 1, 5), (1, 2, 7), (2, 0, 9)]


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("dtype", [np.int64, np.uint8, float, bool, object])
def test_a_square_array_may_be_edges_or_a_matrix(n, dtype):
    a = (np.arange(n * n).reshape(n, n) % 3).astype(dtype)
    for directed in (None, False):
        with pytest.raises(spargo.Error, match=rf"array of {n} x {n} .*from_edges.*from_scipy.*list of tuples"):
            spargo.Graph(a, directed=directed)
    assert spargo.Graph.from_scipy(a.astype(float)).edges == np.count_nonzero(a)
    if dtype in (np.int64, np.uint8):
        assert spargo.Graph.from_edges(*a.T).vertices == a[:, :2].max() + 1


def test_what_can_only_be_edges_is_edges():
    assert spargo.Graph(TRIPLES).weights.tolist() == spargo.Graph(list(map(list, TRIPLES))).weights.tolist() == [5, 7, 9]
    assert spargo.Graph(np.array(TRIPLES[:2])).weights.tolist() == [5, 7]
    assert spargo.Graph([[0, 1], [1, 2]]).edges == 2 and spargo.Graph(np.array(TRIPLES)[:, :2]).edges == 3
    assert spargo.Graph(np.array([["a", "b"], ["b", "c"]])).nodes == ["a", "b", "c"]
    assert spargo.Graph(np.array([["a", "b"], ["b", 3]], object)).nodes == ["a", "b", 3]


def test_columns_are_no_pairs():
    for weighted in ("", " 1.5"):
        edges = spargo.read_edgelist(io.StringIO(f"1 0{weighted}\n0 2{weighted}\n0 1{weighted}\n"))
        for columns in (edges, (edges.sources, edges.targets), (edges.sources[:2], edges.targets[:2])):
            with pytest.raises(TypeError, match="from_edges.*Graph.read"):
                spargo.Graph(columns)
    assert spargo.Graph(list(np.array(TRIPLES))).weights.tolist() == [5, 7, 9]


def test_a_mapping_is_no_pairs():
    for mapping in ({"a": ["b", "c"]}, {("a", "b"): 2.0}):
        with pytest.raises(TypeError, match=r"this is a mapping.*networkx.Graph"):
            spargo.Graph(mapping)


MASKED = np.ma.masked_array(np.arange(12.0).reshape(4, 3), np.eye(4, 3))
VECTOR = np.ma.masked_array(np.ones(3), [False, True, False])
SQUARE = np.ma.masked_array(np.eye(3), np.eye(3, k=1))
PATH = spargo.Graph([(0, 1), (1, 2)])
EYE = spargo.Matrix(sparse.eye_array(3, format="csr"))
MASKING = {
    "Graph": lambda of: spargo.Graph(of(MASKED)),
    "from_edges": lambda of: spargo.Graph.from_edges(of(VECTOR).astype(int), [0, 1, 2]),
    "weights": lambda of: spargo.Graph.from_edges([0, 1, 2], [1, 2, 0], of(VECTOR)),
    "names": lambda of: spargo.Graph.from_edges(of(np.ma.masked_array(["a", "b"], [False, True])), ["b", "c"]),
    "from_scipy": lambda of: spargo.Graph.from_scipy(of(SQUARE)),
    "sources": lambda of: PATH.multi_bfs(of(VECTOR).astype(int)),
    "personalization": lambda of: PATH.pagerank(personalization=of(VECTOR)),
    "Matrix": lambda of: spargo.Matrix(of(MASKED)),
    "arrays": lambda of: spargo.Matrix((of(VECTOR), [0, 1, 2], [0, 1, 2, 3]), shape=(3, 3)),
    "values": lambda of: spargo.Matrix(sparse.eye_array(3, format="csr")).update_values(of(VECTOR)),
    "product": lambda of: EYE @ of(VECTOR),
    "product from the left": lambda of: of(VECTOR) @ EYE,
    "adjoint": lambda of: spargo.Matrix(sparse.eye_array(3, dtype=complex, format="csr")).rmatvec(of(VECTOR)),
    "solve": lambda of: spargo.solve(EYE, of(VECTOR)),
    "guess": lambda of: spargo.solve(EYE, np.ones(3), guess=of(VECTOR)),
    "solve of a matrix": lambda of: spargo.solve(of(SQUARE), np.ones(3)),
    "mmwrite": lambda of: spargo.mmwrite(io.BytesIO(), of(MASKED)),
    "save": lambda of: spargo.save("/dev/null/no/such.spg", of(SQUARE)),
    "indices": lambda of: spargo.csgraph.dijkstra(PATH, indices=of(VECTOR).astype(int)),
}


@pytest.mark.parametrize("name", MASKING)
def test_masked_entries_are_refused(name):
    with pytest.raises(spargo.Error, match="masked entries"):
        MASKING[name](lambda a: a)
    try:
        MASKING[name](lambda a: np.ma.masked_array(a.data))  # nothing is masked
    except OSError:
        assert name == "save"


# --- Words of the messages ----------------------------------------------------------------------------------------------


def test_no_message_names_a_flag_of_the_shell():
    """Of the libraries that are loaded, and of the package."""
    lines = pathlib.Path("/proc/self/maps").read_text().splitlines()
    loaded = {line.split(maxsplit=5)[-1] for line in lines if "/libspargo.so" in line or "/_core." in line}
    assert loaded
    package = pathlib.Path(spargo.__file__).parent
    for path in [*map(pathlib.Path, loaded), *package.glob("*.py")]:
        assert not re.findall(rb"[ (\"']--[a-z][a-z-]*", path.read_bytes()), path


@pytest.mark.parametrize("text, hint", [
    ("1,2,0,5\n2,3,1,25\n", "columns='1,2,3' if the third is the weight, columns='1,2' for no weights"),
    ("1 -> 2\n2 -> 3\n", "columns='1,3' takes lines as edges"),
    ("from,source,to\n1,2,3\n", "expected columns='SOURCE,TARGET[,WEIGHT]'"),
    ("1,2,many\n2,3,5\n", "columns='SOURCE,TARGET"),
    ("1 2\n2 x\n", "ids='names' takes names"),
    (",1,2,3\n1,0,1,1\n2,1,0,0\n3,1,0,0\n", "columns='1,2' or 1,2,3 takes lines as edges"),
])  # fmt: skip
def test_hints_are_arguments_of_the_call(text, hint):
    for read in (spargo.Graph.read, spargo.read_edgelist):
        with pytest.raises(spargo.Error) as e:
            read(io.StringIO(text))
        assert hint.replace("ids=", "ids=" if read == spargo.Graph.read else "kind=") in str(e.value)


# --- Graphs where matrices are expected -------------------------------------------------------------------------------


def networkxs():
    yield nx.path_graph(4)
    yield nx.DiGraph([(2, 1), (1, 0), (0, 1)])
    yield nx.DiGraph([(0, 1), (1, 0)])  # symmetric, and directed all the same
    yield nx.Graph([("a", "b", {"weight": 2.5}), ("b", "c"), ("c", "c")])
    yield nx.DiGraph([("a", "b", {"weight": 2}), ("b", "c")])
    yield nx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    yield nx.MultiDiGraph([(0, 1, {"weight": 0.5}), (0, 1), (1, 2)])
    yield nx.empty_graph(3)


@pytest.mark.parametrize("theirs", list(networkxs()), ids=str)
def test_a_graph_is_its_adjacency_matrix(theirs, tmp_path):
    want = nx.to_scipy_sparse_array(theirs).toarray()
    x = np.arange(1.0, len(theirs) + 1)
    for graph in (theirs, spargo.Graph(theirs)):
        path = tmp_path / "a.mtx"
        spargo.mmwrite(path, graph)
        assert spargo.mmread(path).toarray().tolist() == want.tolist()
        symmetry, field = spargo.mminfo(path)[:-3:-1]
        assert symmetry == ("general" if theirs.is_directed() else "symmetric")
        assert (field == "pattern") == (want.max(initial=0) <= 1)
        back = spargo.Graph.read(path)
        assert back.directed == theirs.is_directed() and back.edges == nx.Graph(theirs).number_of_edges() + (
            len(set(theirs.edges())) - nx.Graph(theirs).number_of_edges() if theirs.is_directed() else 0
        )
        spargo.mmwrite(path, graph, symmetry="general", field="real")
        assert spargo.mminfo(path)[-2:] == ("real", "general") and spargo.mmread(path).toarray().tolist() == want.tolist()
        for matrix in (spargo.Matrix(graph, dtype=float), spargo.Matrix(spargo.Graph(graph), dtype=float)):
            np.testing.assert_allclose(matrix @ x, want @ x)


def test_a_system_may_be_of_a_graph():
    theirs = nx.complete_graph(5)  # whose matrix has the eigenvalues 4 and -1
    b = np.arange(5.0)
    for graph in (theirs, spargo.Graph(theirs)):
        found = spargo.solve(graph, b, method="minres", tolerance=1e-10)
        assert found.converged
        np.testing.assert_allclose(nx.to_numpy_array(theirs) @ found.x, b, atol=1e-8)


def test_graphs_in_csgraph_and_elsewhere():
    g = nx.relabel_nodes(nx.path_graph(4), dict(enumerate("abcd")))
    for graph in (g, spargo.Graph(g)):
        assert spargo.csgraph.shortest_path(graph, indices=0).tolist() == [0, 1, 2, 3]
        assert spargo.csgraph.connected_components(graph)[0] == 1
        assert spargo.csgraph.breadth_first_order(graph, "d")[0].tolist() == [3, 2, 1, 0]
        assert spargo.csgraph.breadth_first_tree(graph, 0).nnz == 3
        assert sorted(spargo.csgraph.reverse_cuthill_mckee(graph)) == [0, 1, 2, 3]
        assert spargo.aslinearoperator(graph).shape == (4, 4)
        with pytest.raises(TypeError, match=r"Graph\(a\)"):
            spargo.Graph.from_scipy(graph)
    with pytest.raises(NotImplementedError, match="int64"):
        spargo.Matrix(nx.Graph([(0, 1, {"weight": 2})]))
    for call in (lambda: EYE @ nx.path_graph(3), lambda: nx.path_graph(3) @ EYE, lambda: spargo.solve(EYE, nx.path_graph(3)),
                 lambda: spargo.Graph.from_edges(nx.path_graph(2), [1, 2]), lambda: PATH.pagerank(guess=nx.path_graph(3)),
                 lambda: PATH.multi_bfs(nx.path_graph(2))):  # whose nodes NumPy would take
        with pytest.raises(TypeError, match="and this is a graph"):
            call()
    with pytest.raises(TypeError, match="from_networkx"):
        spargo.Graph.from_networkx(sparse.eye_array(3))
