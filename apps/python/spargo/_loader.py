"""Batches for graph neural networks, as PyTorch Geometric's ``NeighborLoader`` yields them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import Array, seed_number, whole
from ._config import config
from ._errors import Error
from ._storage import Vertices

if TYPE_CHECKING:
    from ._graph import Graph


def _data_type() -> Any:
    """PyTorch Geometric's ``Data``, or a plain object with the same attributes."""
    try:
        from torch_geometric.data import Data  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        return SimpleNamespace
    return Data


class NeighborLoader:
    """Samples of a graph's neighbourhoods, a batch of seeds at a time, for PyTorch (which must be installed).

    Parameters
    ----------
    graph : Graph
        Messages flow from the targets of its edges to their sources; in an undirected graph both ways.
    num_neighbors : iterable of int
        As `fan_outs` of `Graph.sample_neighbors`.
    input_nodes : array_like of vertices, or of bool, optional
        The seeds of a pass, or a mask of them; by default all vertices.
    batch_size : int, optional
    shuffle : bool, optional
        Seeds in another order in every pass; otherwise in their own.
    drop_last : bool, optional
        Leave out a last batch that is smaller.
    replace : bool, optional
        Draw with replacement.
    x, y : tensor, optional
        A row for each vertex; a batch has those of its vertices, on the tensor's own device.
    seed : int, optional
        Of the order and the samples: the same seed yields the same batches on every device. Passes differ.

    Yields
    ------
    torch_geometric.data.Data, or without PyTorch Geometric an object with the same attributes
        ``edge_index`` (int64, shape (2, edges)), ``n_id`` (the vertices), ``e_id`` (entries of the graph), ``input_id``
        (positions in `input_nodes`), ``batch_size``, ``num_nodes``, ``num_sampled_nodes``, ``num_sampled_edges``, and
        ``x`` and ``y``. The first ``batch_size`` vertices are the seeds. On the graph's device.
    """

    def __init__(
        self,
        graph: Graph,
        num_neighbors: Iterable[int],
        *,
        input_nodes: Vertices | None = None,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        replace: bool = False,
        x: Any = None,
        y: Any = None,
        seed: int = 1,
    ) -> None:
        self.graph = graph
        self.num_neighbors = [whole(n, "NeighborLoader: num_neighbors", -1) for n in num_neighbors]
        self.batch_size = whole(batch_size, "NeighborLoader: batch_size", 1)
        self.shuffle, self.drop_last, self.replace = shuffle, drop_last, replace
        self.x, self.y = x, y
        self.seed = seed_number(seed, "NeighborLoader")
        self._passes = 0
        if input_nodes is None:
            self._nodes = np.arange(graph.vertices)
        else:
            given = np.asarray(input_nodes.cpu() if hasattr(input_nodes, "cpu") else input_nodes)
            if given.dtype == bool and given.shape != (graph.vertices,):
                raise Error(f"NeighborLoader: a mask of shape {given.shape} for {graph.vertices} vertices")
            self._nodes = np.flatnonzero(given) if given.dtype == bool else graph._chosen(input_nodes)

    def __len__(self) -> int:
        """Batches of a pass."""
        full, rest = divmod(self._nodes.size, self.batch_size)
        return int(full + (rest > 0 and not self.drop_last))

    def __iter__(self) -> Iterator[Any]:
        number, self._passes = self._passes, self._passes + 1
        rng = np.random.default_rng([self.seed, number])
        order = rng.permutation(self._nodes.size) if self.shuffle else np.arange(self._nodes.size)
        for first in range(0, len(self) * self.batch_size, self.batch_size):
            yield self._batch(order[first : first + self.batch_size], int(rng.integers(2**63)))

    def _batch(self, chosen: Array, seed: int) -> Any:
        import torch  # type: ignore[import-not-found,unused-ignore]

        def tensor(a: Any) -> Any:
            return torch.as_tensor(a).long()

        with config(arrays=None if self.graph._place is None else "torch"):
            seeds = self._nodes[chosen]
            sample = self.graph.sample_neighbors(seeds, self.num_neighbors, replace=self.replace, seed=seed)
        nodes = tensor(sample.node)
        batch: Any = _data_type()(
            edge_index=torch.stack([tensor(sample.row), tensor(sample.col)]),
            n_id=nodes,
            e_id=tensor(sample.edge),
            input_id=tensor(chosen),
            batch_size=chosen.size,
            num_sampled_nodes=sample.num_sampled_nodes,
            num_sampled_edges=sample.num_sampled_edges,
        )
        batch.num_nodes = nodes.numel()
        for name, values in (("x", self.x), ("y", self.y)):
            if values is not None:
                setattr(batch, name, values[nodes.to(values.device)])
        return batch
