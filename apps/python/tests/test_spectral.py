"""Spectral embeddings; the oracle is NumPy's dense eigenvectors of Laplacians that are written out."""

import networkx as nx
import numpy as np
import pytest
import spargo
from scipy import sparse


def dense_laplacian(a, normalized):
    degrees = a.sum(axis=1)
    if not normalized:
        return np.diag(degrees) - a
    scale = np.divide(1, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
    return np.diag((degrees > 0).astype(float)) - scale[:, None] * a * scale


def weighted(n, seed, components=1):
    g = nx.connected_watts_strogatz_graph(n, 4, 0.4, seed=seed)
    if components > 1:
        g = nx.disjoint_union_all([g] * components)
    rng = np.random.default_rng(seed)
    for _, _, data in g.edges(data=True):
        data["weight"] = rng.uniform(0.5, 2)
    return g


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_embeddings_are_numpys(normalized, dtype):
    for seed in range(4):
        a = nx.to_numpy_array(weighted(50, seed))
        if seed == 3:
            np.fill_diagonal(a, 0.7)  # loops
        a = a.astype(dtype)
        exact = dense_laplacian(a.astype(float), normalized)
        want, vectors = np.linalg.eigh(exact)
        found = spargo.spectral_embedding(sparse.csr_array(a), 4, normalized=normalized)
        near = 1e-5 if dtype == np.float32 else 1e-7
        np.testing.assert_allclose(found.values, want[1:5], atol=near)
        assert found.positions.shape == (50, 4) and found.positions.dtype == dtype
        np.testing.assert_allclose(np.abs(found.positions.T @ vectors[:, 1:5]), np.eye(4), atol=1e-2 if dtype == np.float32 else 1e-5)
        np.testing.assert_allclose(exact @ found.positions, found.positions * found.values, atol=10 * near)
        fiedler = spargo.fiedler_vector(sparse.csr_array(a), normalized=normalized)
        assert abs(fiedler @ vectors[:, 1]) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("normalized", [False, True])
def test_vectors_of_equal_values_are_orthogonal_to_the_trivial_one(normalized):
    for g in (nx.path_graph(2), nx.cycle_graph(4), nx.complete_graph(7), nx.star_graph(6), nx.complete_bipartite_graph(3, 4)):
        a = nx.to_scipy_sparse_array(g, dtype=float)
        trivial = np.sqrt(a.sum(axis=1)) if normalized else np.ones(len(g))
        for seed in range(3):
            found = spargo.spectral_embedding(a, len(g) - 1, normalized=normalized, seed=seed)
            np.testing.assert_allclose(found.positions.T @ trivial, 0, atol=1e-7)
            np.testing.assert_allclose(found.values, np.linalg.eigvalsh(dense_laplacian(a.toarray(), normalized))[1:], atol=1e-7)
    edge = spargo.fiedler_vector(sparse.csr_array([[0, 1.0], [1, 0]]), normalized=normalized)
    np.testing.assert_allclose(np.sort(edge), [-np.sqrt(0.5), np.sqrt(0.5)])
    far = nx.to_scipy_sparse_array(nx.path_graph(10), dtype=float) * 5e307
    assert spargo.spectral_embedding(far, 1).values[0] == pytest.approx(1 - np.cos(np.pi / 9))


def test_what_is_taken():
    g = nx.karate_club_graph()
    want = nx.algebraic_connectivity(g, weight=None)
    unit = nx.to_scipy_sparse_array(g, weight=None, dtype=float)
    for given in (spargo.Graph(unit, directed=False), spargo.Matrix(unit), unit, unit.tocsc()):
        assert spargo.spectral_embedding(given, 1, normalized=False).values[0] == pytest.approx(want, abs=1e-8)
    assert want == pytest.approx(0.468525, abs=1e-6)


def test_graphs_of_several_components():
    a = nx.to_scipy_sparse_array(weighted(30, 1, components=2))
    assert spargo.spectral_embedding(a, 1).values[0] == pytest.approx(0, abs=1e-10)
    with pytest.raises(spargo.Error, match="the graph has 2 components"):
        spargo.fiedler_vector(a)
    c = a.tocoo()
    ends = np.append(c.row, [0, 30]), np.append(c.col, [30, 0])
    bridged = sparse.coo_array((np.append(c.data, [0.0, 0.0]), ends), shape=a.shape).tocsr()
    assert bridged.nnz == a.nnz + 2
    with pytest.raises(spargo.Error, match="the graph has 2 components"):
        spargo.fiedler_vector(bridged)


def test_what_is_refused():
    path = nx.to_scipy_sparse_array(nx.path_graph(4), dtype=float)
    for bad in (0, 4, 1.5):
        with pytest.raises((spargo.Error, ValueError)):
            spargo.spectral_embedding(path, bad)
    with pytest.raises(spargo.Error, match="not symmetric"):
        spargo.spectral_embedding(sparse.csr_array([[0, 1.0, 1], [1, 0, 1], [2, 1, 0]]), 1, normalized=False)
    with pytest.raises(spargo.Error, match="the weight -1 in row 0"):
        spargo.spectral_embedding(-path, 1)
    for bad in (sparse.csr_array((2, 3)), sparse.csr_array((1, 1))):
        with pytest.raises(spargo.Error, match="fiedler_vector: a matrix of . x ."):
            spargo.fiedler_vector(bad)
    with pytest.raises(spargo.Error, match="the tolerance is nan"):
        spargo.spectral_embedding(path, 1, tolerance=np.nan)
    with pytest.raises(spargo.Error, match="2 x 3"):
        spargo.spectral_embedding(sparse.csr_array((2, 3)), 1)
    with pytest.raises(NotImplementedError, match="complex128"):
        spargo.spectral_embedding(path.astype(complex), 1)
    long = nx.to_scipy_sparse_array(nx.path_graph(3000), dtype=float)
    with pytest.raises(spargo.Error, match="fiedler_vector: not converged after .* products"):
        spargo.fiedler_vector(long, max_products=30)


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_networkx(normalized, weight):
    for g in (weighted(40, 5), nx.path_graph(2), nx.karate_club_graph(), nx.relabel_nodes(weighted(31, 6), str)):
        g = nx.Graph(g)
        node = next(iter(g))
        g.add_edge(node, node, weight=3.0)  # ignored
        options = {"normalized": normalized, "weight": weight, "tol": 1e-10, "seed": 1}
        value = nx.algebraic_connectivity(g, backend="spargo", **options)
        assert value == pytest.approx(nx.algebraic_connectivity(g, backend="networkx", **options), abs=1e-6)
        got, want = (nx.fiedler_vector(g, backend=b, **options) for b in ("spargo", "networkx"))
        assert abs(got @ want) == pytest.approx(got @ got, abs=1e-6) and got.shape == want.shape
        drawn = nx.fiedler_vector(g, backend="spargo", **{**options, "seed": np.random.default_rng(1)})
        assert abs(drawn @ want) == pytest.approx(drawn @ drawn, abs=1e-6)
        orders = [nx.spectral_ordering(g, backend=b, **options) for b in ("spargo", "networkx")]
        assert len(g) == 2 or orders[0] in (orders[1], orders[1][::-1]) or len(g) == 34  # of karate ties are many
        assert sorted(orders[0]) == sorted(g)


@pytest.mark.parametrize("seed", range(8))
def test_networkx_signs(seed):
    g = nx.barbell_graph(3, 0)
    with nx.config(backend_priority=["spargo"]), nx.config.backends.spargo(smallest_graph=0):
        assert nx.spectral_bisection(g, seed=seed) == ({0, 1, 2}, {3, 4, 5})
    g = nx.connected_watts_strogatz_graph(20, 4, 0.4, seed=seed)
    ours, theirs = (nx.fiedler_vector(g, seed=1, tol=1e-9, backend=b) for b in ("spargo", "networkx"))
    np.testing.assert_allclose(ours, theirs / np.linalg.norm(theirs), atol=1e-5)
    assert nx.spectral_ordering(g, seed=2, backend="spargo") == nx.spectral_ordering(g, seed=3, tol=1e-9, backend="networkx")


def test_networkx_of_several_components():
    g = weighted(20, 7, components=3)
    g.add_edge(0, 20, weight=0)
    assert nx.algebraic_connectivity(g, backend="spargo") == 0
    with pytest.raises(nx.NetworkXError, match="graph is not connected"):
        nx.fiedler_vector(g, backend="spargo")
    order = nx.spectral_ordering(g, backend="spargo")
    assert sorted(v // 20 for v in order) == [v // 20 for v in order] and sorted(order) == sorted(g)
    for function in (nx.algebraic_connectivity, nx.fiedler_vector):
        with pytest.raises(nx.NetworkXError, match="less than two nodes"):
            function(nx.empty_graph(1), backend="spargo")
    with pytest.raises(nx.NetworkXError, match="graph is empty"):
        nx.spectral_ordering(nx.Graph(), backend="spargo")
    with pytest.raises(NotImplementedError, match="method"):
        nx.fiedler_vector(g, method="other", backend="spargo")
    with pytest.raises(NotImplementedError, match="directed"):
        nx.spectral_ordering(nx.DiGraph([(0, 1)]), backend="spargo")
