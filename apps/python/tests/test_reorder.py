"""Orders of rows and vertices; the oracles are a naive Rabbit order, sorting, and bandwidths of dense matrices."""

import networkx as nx
import numpy as np
import pytest
import spargo
from conftest import INDICES, random_matrix
from scipy import sparse


def bandwidth(a):
    rows, cols = np.nonzero(a)
    return int(np.abs(rows - cols).max(initial=0))


def rabbit(pattern):
    """Arai et al., 2016: merges by largest gain, on dense counts of edges between communities."""
    between = ((pattern + pattern.T) != 0).astype(float)
    np.fill_diagonal(between, 0)
    n = len(between)
    degree, total = between.sum(axis=1), between.sum()
    strength, into = degree.copy(), [[] for _ in range(n)]
    merged = np.zeros(n, bool)
    for v in sorted(range(n), key=lambda v: (degree[v], -v)):
        gains = [(between[v, u] * total - strength[u] * strength[v], -u) for u in range(n) if u != v and not merged[u] and between[v, u] > 0]
        if not gains or max(gains)[0] <= 0:
            continue
        u = -max(gains)[1]
        merged[v] = True
        into[u].append(v)
        strength[u] += strength[v]
        between[u] += between[v]
        between[:, u] += between[:, v]
        between[v], between[:, v] = 0, 0
        between[u, u] = 0
    return {v: into[v] for v in range(n)}, [v for v in range(n) if not merged[v]]


def runs_of(tree, root):
    return {root}.union(*(runs_of(tree, v) for v in tree[root]))


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("seed", range(4))
def test_rabbit_keeps_communities_together(index, seed):
    a = random_matrix(40, 40, seed=seed, index=index, density=0.04)
    order = spargo.reorder(a, "rabbit")
    assert sorted(order) == list(range(40)) and order.dtype == index
    tree, roots = rabbit(a.toarray() != 0)
    place = np.argsort(order)
    for root in range(40):  # every subtree of merges is one run
        run = sorted(place[list(runs_of(tree, root))])
        assert run == list(range(run[0], run[0] + len(run)))
    assert [r for r in order.tolist() if r in roots] == roots  # by number


def test_methods_on_matrices_and_graphs():
    mesh = spargo.generate("gen:laplacian2d:n=12").tocsr()
    mixed = np.random.default_rng(4).permutation(144)
    a = mesh[mixed][:, mixed]
    rcm = spargo.reorder(a)
    assert bandwidth(a[rcm][:, rcm].toarray()) <= 14 < bandwidth(a.toarray())
    theirs = nx.relabel_nodes(nx.karate_club_graph(), {v: f"v{v}" for v in range(34)})
    dense = nx.to_numpy_array(theirs) != 0
    degrees = dense.sum(axis=1)
    assert spargo.reorder(theirs, "degree").tolist() == sorted(range(34), key=lambda v: (-degrees[v], v))
    for method in ("rcm", "degree", "rabbit", "random"):
        orders = [spargo.reorder(form, method, seed=3).tolist() for form in (
            theirs, spargo.Graph(theirs), theirs.to_directed(), sparse.coo_array(dense), dense.astype(np.uint8), sparse.csc_array(np.triu(dense) * 2.0),
            dense + np.eye(34))]  # fmt: skip
        assert all(order == orders[0] for order in orders) and sorted(orders[0]) == list(range(34))
    by_default = spargo.reorder(theirs, "random").tolist()
    assert by_default == spargo.reorder(theirs, "random", seed=1).tolist()  # as the command's --method random
    assert by_default != spargo.reorder(theirs, "random", seed=2).tolist()


def test_ends_and_refusals():
    for method in ("rcm", "degree", "rabbit", "random"):
        for n in (0, 1, 3):
            assert sorted(spargo.reorder(sparse.csr_array((n, n)), method)) == list(range(n))
    with pytest.raises(spargo.Error, match="a matrix of 2 x 3 .expected a square one"):
        spargo.reorder(np.ones((2, 3)))
    with pytest.raises(ValueError, match="method is 'best', and may be one of 'rcm', 'degree', 'rabbit', 'random'"):
        spargo.reorder(np.eye(3), "best")
    with pytest.raises(ValueError, match="method is 'None'"):
        spargo.reorder(np.eye(3), None)
    with pytest.raises(spargo.Error, match="seed is -1"):
        spargo.reorder(np.eye(3), "random", seed=-1)


def test_values_that_are_not_looked_at_are_not_warned_of(recwarn):
    a = sparse.csr_array(np.array([[2**53 + 1, -1, 0], [-1, 0, 5], [0, 5, 1]]))
    for method in ("rcm", "degree", "rabbit", "random"):
        assert spargo.reorder(a, method).tolist() == spargo.reorder(a.astype(bool), method).tolist()
    assert not recwarn.list


def test_seeds_are_those_of_the_commands():
    g = spargo.Graph([(0, 1), (1, 2), (2, 0), (2, 3)], directed=False)
    takers = {
        "layout": lambda s: g.layout(iterations=1, seed=s).positions,
        "communities": lambda s: g.communities(seed=s).labels,
        "coloring": lambda s: g.coloring(order="random", seed=s),
        "independent_set": lambda s: g.independent_set(order="random", seed=s),
        "matching": lambda s: g.matching(order="random", seed=s),
        "random_walks": lambda s: g.random_walks(length=9, seed=s),
        "sample_neighbors": lambda s: g.sample_neighbors([2], [2], seed=s).node,
        "reorder": lambda s: spargo.reorder(np.eye(40), "random", seed=s),
        "svds": lambda s: spargo.svds(np.eye(4), 1, seed=s)[1],
        "fiedler_vector": lambda s: spargo.fiedler_vector(np.ones((4, 4)) - np.eye(4), seed=s),
    }
    for name, take in takers.items():
        for seed in (0, 2**63 - 1, 2**63, 2**64 - 1, np.uint64(2**64 - 1), 7.0):
            assert np.array_equal(take(seed), take(int(seed))), name
        for seed in (-1, 2**64, -(2**63), 2.0**64):
            with pytest.raises(spargo.Error, match=rf"{name}: seed is {int(seed)} \(expected 0 to 2\^64-1\)"):
                take(seed)
        with pytest.raises(spargo.Error, match=f"{name}: seed is 1.5 .expected an integer"):
            take(1.5)
        with pytest.raises(TypeError, match=f"{name}: seed is None"):
            take(None)
    assert takers["reorder"](2**63).tolist() != takers["reorder"](0).tolist() != takers["reorder"](2**64 - 1).tolist()
