import networkx as nx
import numpy as np
import pytest
import spargo
from conftest import INDICES, random_matrix
from scipy import sparse
from scipy.sparse import csgraph as theirs
from spargo import csgraph as ours

SEEDS = range(3)


def matrix(seed, index=np.int32, form="csr", n=60, density=0.04):
    a = random_matrix(n, n, seed, index=index, density=density, form=form)
    a.data[:] = np.abs(a.data)
    return a


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("directed", [True, False])
def test_orders_and_trees(directed, form, index, seed):
    a = matrix(seed, index, form)
    for start in (0, 7, 59):
        order, predecessors = ours.breadth_first_order(a, start, directed)
        reference, _ = theirs.breadth_first_order(a, start, directed)
        if directed:  # SciPy then walks rows as they are, and else along columns, too
            np.testing.assert_array_equal(order, reference)
            np.testing.assert_array_equal(predecessors, theirs.breadth_first_order(a, start, directed)[1])
            tree = ours.breadth_first_tree(a, start)
            np.testing.assert_array_equal(tree.toarray(), theirs.breadth_first_tree(a, start).toarray())
        assert sorted(order.tolist()) == sorted(reference.tolist())
        np.testing.assert_array_equal(ours.breadth_first_order(a, start, directed, False), order)


@pytest.mark.parametrize("seed", SEEDS)
def test_orders_of_unsorted_rows_are_those_of_scipy(seed):
    sorted_rows = matrix(seed, density=0.1)
    a = sorted_rows.copy()
    for first, last in zip(a.indptr, a.indptr[1:]):
        a.indices[first:last] = a.indices[first:last][::-1].copy()
        a.data[first:last] = a.data[first:last][::-1].copy()
    a.has_sorted_indices = False
    for name in ("breadth_first_order", "depth_first_order"):
        search, reference = getattr(ours, name), getattr(theirs, name)
        for form, of in ((a, a), (a.tocoo(), sorted_rows)):
            for got, want in zip(search(form, 7), reference(of, 7)):
                np.testing.assert_array_equal(got, want)
        assert (search(a, 7)[0] != search(sorted_rows, 7)[0]).any()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("unweighted", [True, False])
def test_distances(unweighted, directed, seed):
    for a in (matrix(seed), matrix(seed, np.int64), matrix(seed).toarray(), matrix(seed, form="csc"), spargo.Matrix(matrix(seed))):
        reference = a.to_scipy() if isinstance(a, spargo.Matrix) else a
        options = dict(directed=directed, unweighted=unweighted)
        want = theirs.shortest_path(reference, method="D", **options)
        np.testing.assert_allclose(ours.shortest_path(a, **options), want, rtol=1e-12)
        distances, predecessors = ours.shortest_path(a, method="D", return_predecessors=True, **options)
        np.testing.assert_allclose(distances, want, rtol=1e-12)
        dense = reference if isinstance(reference, np.ndarray) else reference.toarray()
        lengths = np.where(dense != 0, 1.0 if unweighted else dense, np.inf)
        if not directed:
            lengths = np.minimum(lengths, lengths.T)
        for s, v in np.ndindex(want.shape):
            p = predecessors[s, v]
            if s == v or np.isinf(want[s, v]):
                assert p == -9999
            else:
                assert distances[s, p] + lengths[p, v] == pytest.approx(distances[s, v])
        for indices in (3, [1, 5, 5], -1, [-2]):
            np.testing.assert_allclose(
                ours.dijkstra(a, indices=indices, **options), theirs.dijkstra(reference, indices=indices, **options)
            )
        np.testing.assert_allclose(
            ours.dijkstra(a, limit=1.5, **options), theirs.dijkstra(reference, limit=1.5, **options)
        )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("unweighted", [True, False])
@pytest.mark.parametrize("directed", [True, False])
def test_the_nearest_source(directed, unweighted, seed):
    a = matrix(seed, density=0.02)
    options = dict(directed=directed, unweighted=unweighted, min_only=True, indices=[3, 17, 40], return_predecessors=True)
    for limit in (np.inf, 1.2):
        distances, predecessors, sources = ours.dijkstra(a, limit=limit, **options)
        want, _, nearest = theirs.dijkstra(a, limit=limit, **options)
        np.testing.assert_allclose(distances, want)
        each = theirs.dijkstra(a, directed, [3, 17, 40], unweighted=unweighted)
        for v in range(60):
            if np.isinf(want[v]):
                assert sources[v] == predecessors[v] == nearest[v] == -9999
                continue
            assert each[[3, 17, 40].index(sources[v])][v] == pytest.approx(want[v])
            walked = v
            while walked != sources[v]:
                walked = predecessors[walked]
            assert (predecessors[v] == -9999) == (v == sources[v])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("index", INDICES)
def test_components(index, seed):
    a = matrix(seed, index, density=0.02)
    for directed in (True, False):
        for connection in ("weak", "strong", "STRONG"):
            count, labels = ours.connected_components(a, directed, connection)
            want, reference = theirs.connected_components(a, directed, connection)
            assert count == want == ours.connected_components(a, directed, connection, return_labels=False)
            pairs = set(zip(labels.tolist(), reference.tolist()))
            assert len(pairs) == count  # the same parts under other names


def test_dense_graphs_have_no_edge_where_nothing_is():
    dense = np.array([[0, 2, np.inf], [np.nan, 0, 3], [0, 0, 0]])
    np.testing.assert_array_equal(ours.shortest_path(dense), theirs.shortest_path(dense))
    masked = np.ma.masked_equal([[0, 2, 9], [9, 0, 3], [9, 9, 0]], 9)
    assert ours.shortest_path(masked)[0].tolist() == [0, 2, 5]
    # A stored 0 is an edge in SciPy's eyes, too.
    a = sparse.csr_array((np.array([0.0, 3.0]), np.array([1, 2]), np.array([0, 1, 2, 2])), shape=(3, 3))
    np.testing.assert_array_equal(ours.shortest_path(a), theirs.shortest_path(a))


def test_empty():
    for n in (0, 1, 5):
        a = sparse.csr_array((n, n))
        np.testing.assert_array_equal(ours.shortest_path(a), np.where(np.eye(n) == 1, 0, np.inf))
        assert ours.connected_components(a)[0] == n
        if n:
            assert ours.breadth_first_order(a, 0)[0].tolist() == [0]
            assert ours.breadth_first_tree(a, 0).nnz == 0


def test_what_is_refused():
    a = matrix(1)
    for call in (
        lambda: ours.shortest_path(-a),
        lambda: ours.shortest_path(-a, method="BF"),
    ):
        with pytest.raises(theirs.NegativeCycleError):
            call()
    for call in (
        lambda: ours.shortest_path(a, method="magic"),
        lambda: ours.shortest_path(a, method="FW", indices=0),
        lambda: ours.shortest_path(sparse.csr_array((2, 3))),
        lambda: ours.shortest_path(np.ones((2, 3))),
        lambda: ours.dijkstra(a, indices=60),
        lambda: ours.dijkstra(a, limit=-1),
        lambda: ours.dijkstra(-a),
        lambda: ours.breadth_first_order(a, 60),
        lambda: ours.connected_components(a, connection="loose"),
    ):
        with pytest.raises(ValueError):
            call()


def test_graphs_are_taken():
    g = spargo.Graph.from_networkx(nx.path_graph(4))
    assert ours.shortest_path(g, indices=0).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dense", "matrix"])
@pytest.mark.parametrize("seed", range(4))
def test_orders_of_cuthill_and_mckee(form, seed):
    a = random_matrix(80, 80, seed=seed, density=(0.005, 0.03, 0.03, 0.2)[seed])
    if seed == 2:
        a = sparse.csr_array(a + sparse.identity(80))  # loops count in a degree
    for symmetric in (False, True):
        a = sparse.csr_array(a + a.T) if symmetric else a
        given = {"dense": a.toarray(), "matrix": spargo.Matrix(a)}.get(form)
        given = a.asformat(form) if given is None else given
        got = ours.reverse_cuthill_mckee(given, symmetric)
        want = theirs.reverse_cuthill_mckee(a, symmetric)
        assert got.dtype == want.dtype == np.int32
        np.testing.assert_array_equal(got, want)


def test_orders_of_cuthill_and_mckee_of_what_is_small():
    for n in (0, 1, 3):
        assert sorted(ours.reverse_cuthill_mckee(sparse.csr_array((n, n)))) == list(range(n))
    grid = spargo.Graph.read("gen:grid2d:n=30")
    shuffled = np.random.default_rng(1).permutation(900)
    a = grid.to_scipy()[shuffled][:, shuffled].tocoo()
    order = np.argsort(ours.reverse_cuthill_mckee(a))
    assert np.abs(order[a.row] - order[a.col]).max() < 40 < np.abs(a.row - a.col).max()
    with pytest.raises(ValueError):
        ours.reverse_cuthill_mckee(sparse.csr_array((2, 3)))


def same_as_scipy(a, name, **options):
    want, got = (getattr(module, name)(a, **options) for module in (theirs, ours))
    for w, g in zip(*(r if isinstance(r, tuple) else (r,) for r in (want, got))):
        if sparse.issparse(w):
            assert (w.nnz, w.shape) == (g.nnz, g.shape)
            w, g = w.toarray(), g.toarray()
        np.testing.assert_array_equal(g, w)


@pytest.mark.parametrize("seed", range(8))
def test_masked_arrays(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    data = rng.choice([0.0, 1.0, 2.5, 7.0], (n, n))
    a = np.ma.masked_array(data, mask=rng.random((n, n)) < 0.6)
    for directed in (True, False):
        same_as_scipy(a, "connected_components", directed=directed)
        order = [module.breadth_first_order(a, 0, directed)[0] for module in (theirs, ours)]
        np.testing.assert_array_equal(*(order if directed else map(np.sort, order)))
        for unweighted in (True, False):
            same_as_scipy(a, "dijkstra", directed=directed, unweighted=unweighted)
            same_as_scipy(a, "dijkstra", directed=directed, unweighted=unweighted, indices=[0], min_only=True)
            same_as_scipy(a, "shortest_path", directed=directed, unweighted=unweighted, method="D")
    same_as_scipy(a, "breadth_first_tree", i_start=0)
    everywhere = np.ma.masked_array(data)  # SciPy takes no such mask: every entry is an edge
    np.testing.assert_array_equal(ours.dijkstra(everywhere), theirs.dijkstra(np.ma.masked_array(data, mask=np.zeros((n, n), bool))))
    same_as_scipy(np.ma.masked_array(data.astype(int), mask=a.mask), "dijkstra")
    a[0, n - 1] = np.nan
    same_as_scipy(a, "dijkstra")
    same_as_scipy(a, "connected_components")


def test_stored_false_is_an_edge_of_length_0():
    for make in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        a = make(sparse.csr_array((np.array([False, True, False]), [1, 0, 2], [0, 1, 3, 3]), shape=(3, 3)))
        assert a.nnz == 3 and a.dtype == bool
        same_as_scipy(a, "dijkstra")
        same_as_scipy(a, "dijkstra", unweighted=True)
        same_as_scipy(a, "shortest_path", method="D", directed=False)
        same_as_scipy(a, "breadth_first_order", i_start=0)
        same_as_scipy(a, "breadth_first_tree", i_start=0)
        same_as_scipy(a, "connected_components")


@pytest.mark.parametrize("kind", [list, np.array, lambda _: np.empty(0, int), lambda _: np.empty((0, 2), int)])
def test_no_indices(kind):
    a = sparse.csr_array([[0, 1.0], [0, 0]])
    for options in ({}, {"return_predecessors": True}, {"unweighted": True, "return_predecessors": True},
                    {"return_predecessors": True, "min_only": True}):
        if options.get("min_only") and np.ndim(kind([])) == 2:
            continue
        same_as_scipy(a, "dijkstra", indices=kind([]), **options)
    same_as_scipy(a, "shortest_path", indices=kind([]))
    predecessors = ours.dijkstra(a, indices=kind([]), return_predecessors=True)[1]
    assert predecessors.dtype == np.int32


@pytest.mark.parametrize("weighted", [True, False])
def test_direction_of_a_graph(weighted):
    rng = np.random.default_rng(2)
    dense = np.where(rng.random((12, 12)) < 0.15, rng.integers(1, 9, (12, 12)), 0).astype(float)
    a = sparse.csr_array(dense)
    g = spargo.Graph.from_scipy(a, weights=weighted)
    want = a if weighted else a.astype(bool)
    for directed in (True, False):
        for name, options in (("dijkstra", {}), ("dijkstra", {"indices": 2}), ("shortest_path", {"method": "D"}),
                              ("dijkstra", {"indices": [1, 5], "min_only": True}), ("connected_components", {"connection": "strong"})):
            w = getattr(theirs, name)(want, directed=directed, **options)
            o = getattr(ours, name)(g, directed=directed, **options)
            if name == "connected_components":
                assert o[0] == w[0]
            else:
                np.testing.assert_array_equal(o, w)
        np.testing.assert_array_equal(
            ours.breadth_first_order(g, 2, directed=directed)[0], ours.breadth_first_order(a, 2, directed=directed)[0]
        )
    both = spargo.Graph.from_scipy(a, weights=weighted, directed=False)
    np.testing.assert_array_equal(ours.dijkstra(both), theirs.dijkstra(want, directed=False))


def draw(seed):
    """A random matrix of lengths, stored in some form, with equal ones, explicit zeros or none."""
    source = np.random.default_rng(seed)
    n = int(source.integers(1, 14))
    dense = np.where(source.random((n, n)) < source.choice([0.1, 0.3, 0.6]), source.integers(1, 6, (n, n)), 0).astype(float)
    if seed % 3 == 0:
        dense = np.where(dense != 0, dense + source.random((n, n)), 0)
    if seed % 4 == 0:
        return dense
    stored = (sparse.csr_array, sparse.csr_matrix, sparse.csc_array)[seed % 3](dense)
    if seed % 5 == 0 and stored.nnz > 0:
        stored.data[0] = 0
    return stored


def test_all_pairs_and_simple_paths():
    for seed in range(300):
        a = draw(seed)
        n = a.shape[0]
        for directed in (True, False):
            for unweighted in (True, False):
                options = dict(directed=directed, unweighted=unweighted)
                for name in ("floyd_warshall", "bellman_ford", "johnson"):
                    want = getattr(theirs, name)(a, **options)
                    np.testing.assert_allclose(getattr(ours, name)(a, **options), want, rtol=1e-12)
                distances, predecessors = ours.johnson(a, indices=[0, n - 1], return_predecessors=True, **options)
                np.testing.assert_allclose(distances, want[[0, n - 1]], rtol=1e-12)
                assert np.array_equal(predecessors >= 0, np.isfinite(distances) & (np.arange(n) != [[0], [n - 1]]))
                if sparse.csr_array(a).nnz == 0:  # SciPy's fails
                    assert ours.yen(a, 0, n - 1, 7, **options).tolist() == ([0] if n == 1 else [])
                    continue
                want, paths = theirs.yen(a, 0, n - 1, 7, return_predecessors=True, **options)
                got, own = ours.yen(a, 0, n - 1, 7, return_predecessors=True, **options)
                np.testing.assert_allclose(got, want, rtol=1e-12)
                np.testing.assert_array_equal(ours.yen(a, 0, n - 1, 7, **options), got)
                assert own.shape == paths.shape
                if np.all(np.diff(got) > 1e-9) and len(got) < 7:
                    np.testing.assert_array_equal(own, paths)


def signed(seed):
    """Most lengths are differences of heights and a little more, so that half of the matrices have no negative cycle."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    height = rng.integers(0, 20, n)
    rows, columns = np.nonzero(rng.random((n, n)) < 0.3)
    slack = rng.integers(1, 5, rows.size) * (1 if seed % 3 else 0.25) - 3 * (rng.random(rows.size) < 0.05)
    lengths = (height[columns] - height[rows] + slack).astype([float, int, np.float32][seed % 3])
    ends = rows.astype(np.int32), columns.astype(np.int32)  # SciPy's yen takes no others
    return sparse.coo_array((lengths, ends), shape=(n, n)).asformat(["csr", "csc", "coo"][seed % 3])


def test_lengths_of_both_signs():
    unbounded, calls = 0, 0
    for seed in range(300):
        a = signed(seed)
        n = a.shape[0]
        options = {"directed": seed % 4 != 3, "return_predecessors": True}
        for name in ("bellman_ford", "johnson", "floyd_warshall"):
            for indices in (None,) if name == "floyd_warshall" else (None, 0, [n - 1, 0]):
                if name != "floyd_warshall":
                    options["indices"] = indices
                calls += 1
                try:
                    want, _ = getattr(theirs, name)(a.tocsr(), **options)
                except theirs.NegativeCycleError:
                    unbounded += 1
                    with pytest.raises(theirs.NegativeCycleError):
                        getattr(ours, name)(a, **options)
                    continue
                got, predecessors = getattr(ours, name)(a, **options)
                np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
                # Predecessors may be others than SciPy's: each is one step before.
                dense = np.full((n, n), np.inf)
                entries = a.tocoo()
                dense[entries.row, entries.col] = entries.data
                if not options["directed"]:
                    dense = np.minimum(dense, dense.T)
                far, before = np.atleast_2d(got), np.atleast_2d(predecessors)
                for row, parents in zip(far, before):
                    for v in np.flatnonzero(parents >= 0):
                        assert row[parents[v]] + dense[parents[v], v] == pytest.approx(row[v], abs=1e-12)
                    assert np.sum(parents >= 0) == np.sum(np.isfinite(row)) - 1
            options.pop("indices", None)
    assert calls / 10 < unbounded < calls * 0.9


def test_paths_of_both_signs():
    for seed in range(300):
        a = signed(seed).tocsr().astype(float)
        n = a.shape[0]
        if n == 1 or a.nnz == 0:
            continue
        try:
            want = theirs.yen(a, 0, n - 1, 5)
        except theirs.NegativeCycleError:
            with pytest.raises(theirs.NegativeCycleError):
                ours.yen(a, 0, n - 1, 5)
            continue
        np.testing.assert_allclose(ours.yen(a, 0, n - 1, 5), want, atol=1e-12)


def test_negative_lengths_of_one_source():
    a = sparse.csr_array(np.array([[0, -1.0, 0], [0, 0, 3], [0, 0, 0]]))
    g = spargo.Graph(a)
    assert g.bellman_ford(0).distances.tolist() == [0, -1, 2] and g.bellman_ford(0).parents.tolist() == [0, 0, 1]
    assert g.find_negative_cycle().size == 0
    assert ours.bellman_ford(a, unweighted=True)[0, 1] == 1
    with pytest.raises(spargo.Error, match="has weight -1"):
        ours.dijkstra(a)
    g = spargo.Graph([("a", "b", 1.0), ("b", "c", -2.0), ("c", "b", 1.5), ("d", "a", 1.0), ("c", "e", 1.0)])
    assert sorted(g.names(g.find_negative_cycle("d"))) == ["b", "c"] and g.find_negative_cycle("e").size == 0
    with pytest.raises(spargo.Error, match=r"a cycle of negative weight through vertex \d \(expected none that vertex 0 reaches\)"):
        g.bellman_ford("a")
    for source, sink, k in ((0, 3, 1), (-1, 0, 1), (0, 1, -1)):
        with pytest.raises(ValueError):
            ours.yen(abs(a), source, sink, k)


def test_spanning_trees():
    for seed in range(600):
        a = draw(seed)
        if seed % 7 == 0 and hasattr(a, "data") and not isinstance(a, np.ndarray):
            a.data[:] -= 3  # of any sign
        want, got = theirs.minimum_spanning_tree(a), ours.minimum_spanning_tree(a)
        assert type(got) is type(want) and got.dtype == want.dtype and got.shape == want.shape
        assert got.sum() == pytest.approx(want.sum())
        entries = sparse.csr_array(a)
        used = np.where(entries.toarray() != 0, entries.toarray(), np.inf)
        lighter = np.minimum(used, used.T)
        lengths = lighter[np.isfinite(lighter) & (np.triu(np.ones(a.shape)) > 0) & ~np.eye(a.shape[0], dtype=bool)]
        if seed % 5 != 0 and np.unique(lengths).size == lengths.size and np.all(used[used < np.inf] != 0):
            if not np.any((used == used.T) & np.isfinite(used) & ~np.eye(a.shape[0], dtype=bool)):
                np.testing.assert_array_equal(got.toarray(), want.toarray())
        if got.nnz > 0:  # entries of the matrix, and a forest
            assert np.array_equal(np.asarray(entries[got.nonzero()]).ravel(), np.asarray(got[got.nonzero()]).ravel())
            assert a.shape[0] - theirs.connected_components(got)[0] == got.nnz


# No algorithm in the library: SciPy's names that are not ours.
ABSENT = {"maximum_flow", "min_weight_full_bipartite_matching"}


def test_every_name_of_scipys_is_there_or_said_to_be_absent():
    assert {name for name in theirs.__all__ if not hasattr(ours, name)} == ABSENT
    assert set(ours.__all__) <= set(theirs.__all__)
    for name in ABSENT:
        with pytest.raises(AttributeError, match=f"spargo.csgraph has no {name}: .*scipy.sparse.csgraph.{name} is SciPy's"):
            getattr(ours, name)
    with pytest.raises(AttributeError, match="has no attribute 'flow'"):
        ours.flow
    assert ours.NegativeCycleError is theirs.NegativeCycleError


def preorder(rows, v, order, predecessors):
    order.append(v)
    for w in rows[v]:
        if w not in order:
            predecessors[w] = v
            preorder(rows, w, order, predecessors)


@pytest.mark.parametrize("seed", range(60))
def test_depth_first_orders_and_trees(seed):
    a = matrix(seed, INDICES[seed % 2], ["csr", "csc", "coo"][seed % 3], n=30, density=0.01 * (seed % 7))
    stored = a.toarray() != 0
    for given in (a, spargo.Matrix(a), spargo.Graph(a.astype(float), directed=True)):
        for directed in (True, False):
            rows = [np.flatnonzero(row).tolist() for row in (stored if directed else stored | stored.T)]
            for start in (0, 13, -1):
                want, before = [], np.full(30, -9999)
                preorder(rows, start % 30, want, before)
                order, predecessors = ours.depth_first_order(given, start, directed)
                assert order.tolist() == want and predecessors.tolist() == before.tolist()
                np.testing.assert_array_equal(ours.depth_first_order(given, start, directed, False), order)
                tree = ours.depth_first_tree(given, start, directed).toarray()
                assert {*zip(*map(np.ndarray.tolist, tree.nonzero()))} == {(p, v) for v, p in enumerate(before.tolist()) if p >= 0}
                if directed and start >= 0:
                    np.testing.assert_array_equal(order, theirs.depth_first_order(a, start)[0])
                    np.testing.assert_array_equal(tree, theirs.depth_first_tree(a, start).toarray())
    with pytest.raises(ValueError):
        ours.depth_first_order(a, 30)


def test_depth_first_search_of_a_long_path():
    n = 200_000
    a = sparse.csr_array((np.ones(n - 1), (np.arange(n - 1), np.arange(1, n))), shape=(n, n))
    assert np.array_equal(ours.depth_first_order(a, 0, return_predecessors=False), np.arange(n))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dense", "matrix"])
@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize("use_out_degree", [False, True])
def test_laplacians(use_out_degree, normed, form, dtype):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        dense = np.where(rng.random((12, 12)) < 0.1 * seed, rng.integers(1, 9, (12, 12)), 0).astype(dtype)
        dense[rng.integers(12)] = 0  # with loops, and with vertices of degree 0
        a = dense if form == "dense" else sparse.csr_matrix(dense) if form == "matrix" else sparse.csr_array(dense).asformat(form)
        for options in ({}, {"symmetrized": True}, {"dtype": np.float32}):
            options |= {"normed": normed, "use_out_degree": use_out_degree, "return_diag": True}
            want, degrees = theirs.laplacian(a.copy(), **options)
            got, ours_of_them = ours.laplacian(a, **options)
            assert (type(got) is type(want) or seed == 0) and got.dtype == want.dtype and got.shape == want.shape
            got, want = (m.toarray() if sparse.issparse(m) else m for m in (got, want))
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)
            np.testing.assert_allclose(ours_of_them, degrees, rtol=1e-6)
            single = ours.laplacian(a, **{**options, "return_diag": False})
            np.testing.assert_array_equal(single.toarray() if sparse.issparse(single) else single, got)
            x = rng.random((12, 3))
            for form_of_it in ("function", "lo"):
                product = ours.laplacian(a, **{**options, "return_diag": False}, form=form_of_it)
                np.testing.assert_allclose(product(x) if form_of_it == "function" else product @ x, got @ x, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(a if form == "dense" else a.toarray(), dense)  # not overwritten


def test_laplacians_of_graphs_and_what_is_refused():
    star = nx.star_graph(3)
    for g in (star, spargo.Graph(star)):
        assert np.array_equal(ours.laplacian(g).toarray(), nx.laplacian_matrix(star).toarray())
    assert ours.laplacian(sparse.csr_array((0, 0))).shape == (0, 0)
    big = sparse.csr_array(np.array([[0, 2**53 + 2], [0, 0]]))
    for call, kind, message in [
        (lambda: ours.laplacian(big), spargo.Error, "beyond 2.53"),
        (lambda: ours.laplacian(sparse.csr_array((2, 3))), ValueError, "must be a square"),
        (lambda: ours.laplacian(np.eye(2), form="dense"), ValueError, "Unrecognized form"),
        (lambda: ours.laplacian(np.eye(2) * 1j), spargo.UnsupportedError, "complex128"),
        (lambda: ours.laplacian(-np.ones((2, 2)), normed=True), spargo.Error, "vertex 0 has degree -1"),
    ]:
        with pytest.raises(kind, match=message):
            call()


def test_conversions_are_scipys_and_take_our_matrices():
    a = sparse.csr_array(np.array([[0, 2.0, 9], [0, 0, 3], [0, 0, 0]]))
    distances, predecessors = ours.shortest_path(a, return_predecessors=True)
    for given in (a, spargo.Matrix(a), spargo.Graph(a)):
        np.testing.assert_array_equal(ours.csgraph_to_dense(given), theirs.csgraph_to_dense(a))
        np.testing.assert_array_equal(ours.csgraph_to_masked(given), theirs.csgraph_to_masked(a))
        np.testing.assert_array_equal(ours.construct_dist_matrix(given, predecessors), distances)
        np.testing.assert_array_equal(
            ours.reconstruct_path(given, predecessors[0]).toarray(), theirs.reconstruct_path(a, predecessors[0]).toarray()
        )
    np.testing.assert_array_equal(ours.construct_dist_matrix(graph=spargo.Matrix(a), predecessors=predecessors), distances)
    np.testing.assert_array_equal(ours.csgraph_from_dense(a.toarray()).toarray(), a.toarray())
