"""Random walks, samples of neighbours, and the loader, beside the graph's arrays and networkx's."""

import sys
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import spargo


def graph(**options):
    g = nx.gnm_random_graph(60, 400, seed=3, directed=True)
    for u, v in g.edges:
        g[u][v]["weight"] = (u * 7 + v) % 5
    g.add_edge(60, 3, weight=1)
    g.add_node(61)
    return g, spargo.Graph.from_networkx(g, weight="weight", **options)


def test_walks_follow_edges():
    g, ours = graph()
    for options in ({}, {"p": 0.5, "q": 3}, {"weights": False}):
        walks = ours.random_walks(length=20, seed=9, **options)
        assert walks.shape == (62, 21) and walks.dtype == ours.indices.dtype
        np.testing.assert_array_equal(walks[:, 0], np.arange(62))
        for walk in walks:
            left = walk[walk >= 0]
            assert np.all(walk[left.size :] == -1)
            for u, v in zip(left, left[1:]):
                assert g.has_edge(u, v)
                assert options.get("weights") is False or g[u][v]["weight"] > 0
        np.testing.assert_array_equal(walks[61, 1:], -1)
        with spargo.config(threads=3):
            np.testing.assert_array_equal(ours.random_walks(length=20, seed=9, **options), walks)
        assert np.any(ours.random_walks(length=20, seed=10, **options) != walks)


def test_starts_and_counts():
    _, ours = graph()
    starts = [5, 5, 61]
    walks = ours.random_walks(starts, 4)
    assert walks.shape == (3, 5)
    np.testing.assert_array_equal(walks[:, 0], starts)
    assert ours.random_walks([], 4).shape == (0, 5)
    assert ours.random_walks(length=0).shape == (62, 1)
    many = ours.random_walks(length=2, walks=150)
    np.testing.assert_array_equal(many[:, 0], np.arange(150) % 62)
    named = spargo.Graph([("a", "b"), ("b", "c")])
    assert [named.names(walk) for walk in named.random_walks(["a"], 2)] == [["a", "b", "c"]]
    assert spargo.Graph.from_edges([], [], vertices=0).random_walks(length=3).shape == (0, 4)


def test_walks_refuse_what_is_wrong():
    _, ours = graph()
    for arguments in ({"p": 0}, {"q": float("nan")}, {"length": -1}, {"starts": [99]}, {"walks": -3}, {"walks": 0},
                      {"starts": [1], "walks": 2}):
        with pytest.raises(spargo.Error):
            ours.random_walks(**arguments)
    with pytest.raises(spargo.Error, match=r"edge \(0, 1\) has weight -1"):
        spargo.Graph.from_edges([0], [1], [-1.0]).random_walks()


@pytest.mark.parametrize("replace", [False, True])
def test_samples(replace):
    _, ours = graph()
    seeds = [7, 60, 61]
    sample = ours.sample_neighbors(seeds, [3, 2], replace=replace, seed=4)
    assert sample.node.dtype == sample.row.dtype == ours.indices.dtype
    np.testing.assert_array_equal(sample.node[:3], seeds)
    assert len(set(sample.node.tolist())) == sample.node.size == sum(sample.num_sampled_nodes)
    assert sample.row.size == sample.col.size == sample.edge.size == sum(sample.num_sampled_edges)
    np.testing.assert_array_equal(ours.indices[sample.edge], sample.node[sample.row])
    sources = np.searchsorted(ours.offsets, sample.edge, side="right") - 1
    np.testing.assert_array_equal(sources, sample.node[sample.col])
    counts = np.bincount(sample.col[: sample.num_sampled_edges[0]], minlength=3)
    np.testing.assert_array_equal(counts, [3, 3 if replace else 1, 0])
    if not replace:
        assert len(set(sample.edge.tolist())) == sample.edge.size
    table = sample.to_pandas()
    assert list(table.columns) == ["source", "target", "edge"] and len(table) == sample.edge.size
    whole = ours.sample_neighbors(seeds, [-1])
    np.testing.assert_array_equal(np.sort(whole.node[whole.row[whole.col == 0]]), np.sort(ours.neighbours(7)))
    with pytest.raises(spargo.Error, match="seed 1 is 7 again"):
        ours.sample_neighbors([7, 7])
    with pytest.raises(spargo.Error):
        ours.sample_neighbors([7], [-2])


def test_on_a_gpu(xp):
    _, ours = graph()
    _, there = graph(device="cuda")
    with spargo.config(arrays=type(xp).__name__.lower()):
        for options in ({}, {"p": 0.5, "q": 3}, {"weights": False}, {"starts": [3, 61]}):
            walks = there.random_walks(length=20, seed=9, **options)
            assert isinstance(walks, xp.type) and walks.shape[1] == 21
            np.testing.assert_array_equal(xp.back(walks), ours.random_walks(length=20, seed=9, **options))
        sample, expected = (g.sample_neighbors([7, 60], [4, 4], seed=2) for g in (there, ours))
        for found, wanted in zip(sample[:4], expected[:4]):
            np.testing.assert_array_equal(xp.back(found), wanted)
        assert sample[4:] == expected[4:]
    assert isinstance(there.random_walks(length=3), np.ndarray)


def test_memory_on_a_gpu_is_not_copied(xp, monkeypatch):
    _, there = graph(device="cuda")
    name = type(xp).__name__.lower()
    kind = spargo._device.kind_named(name)

    def refuse(*_):
        raise AssertionError("a copy")

    monkeypatch.setattr(kind, "empty", refuse)
    with spargo.config(arrays=name):
        walks = [there.random_walks(length=50, seed=seed) for seed in (1, 2, 1)]
    xp.synchronize()
    np.testing.assert_array_equal(xp.back(walks[0]), xp.back(walks[2]))
    assert np.any(xp.back(walks[0]) != xp.back(walks[1]))


# --- The loader -------------------------------------------------------------------------------------------------------


def torch_or_skip():
    return pytest.importorskip("torch", reason="PyTorch is not installed")


def test_loader_without_geometric(monkeypatch):
    torch = torch_or_skip()
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    monkeypatch.setitem(sys.modules, "torch_geometric.data", None)
    _, ours = graph()
    x = torch.arange(62.0)[:, None] * 2
    loader = spargo.NeighborLoader(ours, [3, 2], batch_size=25, x=x, y=torch.arange(62))
    batches = list(loader)
    assert len(loader) == len(batches) == 3
    assert [batch.batch_size for batch in batches] == [25, 25, 12]
    for number, batch in enumerate(batches):
        assert isinstance(batch, SimpleNamespace)
        assert batch.edge_index.dtype == torch.int64 and batch.edge_index.shape[0] == 2
        assert batch.num_nodes == batch.n_id.numel() == batch.x.shape[0] == sum(batch.num_sampled_nodes)
        assert torch.equal(batch.n_id[: batch.batch_size], batch.input_id)
        assert torch.equal(batch.input_id, torch.arange(25 * number, min(62, 25 * number + 25)))
        assert torch.equal(batch.x[:, 0], batch.n_id * 2.0) and torch.equal(batch.y, batch.n_id)
        ends = batch.n_id[batch.edge_index]
        assert np.array_equal(ours.indices[batch.e_id.numpy()], ends[0].numpy())
    mask = np.arange(62) % 2 == 1
    odd = list(spargo.NeighborLoader(ours, [-1], input_nodes=mask, batch_size=10, shuffle=True, drop_last=True))
    assert len(odd) == 3 and all(torch.all(batch.n_id[:10] % 2 == 1) for batch in odd)
    with pytest.raises(spargo.Error, match="a mask of shape"):
        spargo.NeighborLoader(ours, [1], input_nodes=mask[:5])


def test_loader_repeats():
    torch = torch_or_skip()
    _, ours = graph()

    def passes():
        loader = spargo.NeighborLoader(ours, [4, 4], batch_size=20, shuffle=True, seed=8)
        return [[batch.n_id for batch in loader] for _ in range(2)]

    first, again = passes(), passes()
    assert all(torch.equal(a, b) for one, other in zip(first, again) for a, b in zip(one, other))
    assert not torch.equal(first[0][0], first[1][0])


def communities_to_learn(torch):
    """Two groups of 150 vertices, more edges inside than between, and features that say little of the group."""
    g = nx.planted_partition_graph(2, 150, 0.08, 0.01, seed=5)
    labels = torch.tensor([v // 150 for v in g])
    torch.manual_seed(0)
    x = torch.randn(300, 8) + 0.35 * labels[:, None]
    return spargo.Graph.from_networkx(g), x, labels


class Sage:
    """GraphSAGE in two layers: a vertex's own features and the mean of its sampled neighbours'."""

    def __init__(self, torch, sizes):
        self.torch = torch
        layers = zip(sizes, sizes[1:])
        self.layers = [(torch.nn.Linear(a, b), torch.nn.Linear(a, b, bias=False)) for a, b in layers]

    def parameters(self):
        return [p for pair in self.layers for layer in pair for p in layer.parameters()]

    def __call__(self, x, edge_index):
        source, target = edge_index
        for k, (own, near) in enumerate(self.layers):
            sums = self.torch.zeros_like(x).index_add(0, target, x[source])
            counts = self.torch.zeros(x.shape[0]).index_add(0, target, self.torch.ones(target.shape[0]))
            x = own(x) + near(sums / counts.clamp(min=1)[:, None])
            x = self.torch.relu(x) if k == 0 else x
        return x


def test_graphsage_learns():
    torch = torch_or_skip()
    g, x, labels = communities_to_learn(torch)
    train = np.arange(300) % 3 == 0
    model = Sage(torch, [8, 16, 2])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    loader = spargo.NeighborLoader(g, [10, 10], input_nodes=train, batch_size=20, shuffle=True, x=x, y=labels)
    losses = []
    for _ in range(15):
        total = 0.0
        for batch in loader:
            optimizer.zero_grad()
            found = model(batch.x, batch.edge_index)[: batch.batch_size]
            loss = torch.nn.functional.cross_entropy(found, batch.y[: batch.batch_size])
            loss.backward()
            optimizer.step()
            total += float(loss.detach())
        losses.append(total)
    assert losses[-1] < losses[0] / 2
    right = count = 0
    with torch.no_grad():
        for batch in spargo.NeighborLoader(g, [-1, -1], input_nodes=~train, batch_size=100, x=x, y=labels):
            found = model(batch.x, batch.edge_index)[: batch.batch_size].argmax(1)
            right += int((found == batch.y[: batch.batch_size]).sum())
            count += batch.batch_size
    assert right / count > 0.9


def test_geometric_takes_batches():
    torch = torch_or_skip()
    geometric = pytest.importorskip("torch_geometric", reason="PyTorch Geometric is not installed")
    g, x, labels = communities_to_learn(torch)
    batch = next(iter(spargo.NeighborLoader(g, [5, 5], batch_size=30, x=x, y=labels)))
    assert isinstance(batch, geometric.data.Data) and batch.validate()
    layer = geometric.nn.SAGEConv(8, 2)
    assert layer(batch.x, batch.edge_index).shape == (batch.num_nodes, 2)
