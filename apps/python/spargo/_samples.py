"""Random walks and samples of neighbours: methods of `Graph`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import _device
from ._arrays import Array, seed_number, whole
from ._centrality import Centrality
from ._config import threads
from ._errors import Error
from ._results import NeighborSample
from ._storage import Vertices


class Samples(Centrality):
    """The methods of `Graph` that draw at random, the same on every device and for any number of threads."""

    __slots__ = ()

    def random_walks(
        self,
        starts: Vertices | None = None,
        length: int = 80,
        *,
        walks: int | None = None,
        p: float = 1,
        q: float = 1,
        seed: int = 1,
        weights: bool = True,
    ) -> Array:
        """Random walks along out-edges.

        Parameters
        ----------
        starts : array_like of vertices, shape (walks,), optional
            Where each walk starts; by default walk k starts at vertex k modulo the number of vertices.
        length : int, optional
            Steps of a walk.
        walks : int, optional
            How many walks, 1 or more, without ``starts``; by default one from each vertex.
        p, q : float, optional
            Of node2vec: a step back to the previous vertex counts 1/p, a step to a neighbour of it 1, any other 1/q.
        seed : int, optional
        weights : bool, optional
            Choose edges in proportion to the graph's weights, if it has some.

        Returns
        -------
        ndarray of the graph's indices, shape (walks, length + 1)
            The vertices of each walk in a row; -1 after a vertex from which no edge leads on. For a graph on a GPU
            an array there, not a copy.

        Raises
        ------
        Error
            For a weight that is negative, infinite or NaN, or a ``p`` or ``q`` that is not positive.

        Notes
        -----
        Draws are Philox4x32-10 of (seed, walk, step). Self-loops and parallel edges count.
        """
        if starts is not None and walks is not None:
            raise Error("random_walks: starts and walks (expected one of them)")
        length, count = whole(length, "random_walks: length", 0), 0
        if walks is not None:
            count = whole(walks, "random_walks: walks", 1)
        chosen = None if starts is None else self._argument(self._chosen(starts))
        arguments = (chosen, count, length, float(p), float(q), seed_number(seed, "random_walks"), threads())
        if weights and self.weights is not None:
            found, rows = self._algorithm("weighted_random_walks", False)(self._weights(), *arguments)
        else:
            found, rows = self._algorithm("random_walks", False)(*arguments)
        walked: Array = self._own(found).reshape(rows, length + 1)
        return walked

    def sample_neighbors(
        self, seeds: Vertices, fan_outs: Iterable[int] = (15, 10), *, replace: bool = False, seed: int = 1
    ) -> NeighborSample:
        """Neighbours of vertices, neighbours of these, and so on, for training graph neural networks.

        Parameters
        ----------
        seeds : array_like of vertices
            Distinct ones.
        fan_outs : iterable of int, optional
            For each hop how many out-edges are drawn for every vertex that the hop before found first; -1: all.
        replace : bool, optional
            Draw with replacement. Without, a row that has no more edges is taken whole.
        seed : int, optional

        Returns
        -------
        NeighborSample

        Raises
        ------
        Error
            For seeds that are listed twice.

        Notes
        -----
        Draws are Philox4x32-10 of (seed, vertex, hop). In a directed graph messages flow against the edges; sample
        ``graph.reverse()`` to have them flow along.
        """
        hops = [whole(fan_out, "sample_neighbors: a fan-out", -1) for fan_out in fan_outs]
        chosen = self._argument(self._chosen(seeds))
        sample = self._algorithm("sample_neighbors", False)
        *arrays, nodes, edges = sample(chosen, hops, bool(replace), seed_number(seed, "sample_neighbors"), threads())
        return NeighborSample.of(self, *map(self._own, arrays), nodes, edges)

    def _own(self, found: Any) -> Any:
        """A result that nothing else has, for the caller: on a GPU an array over the library's memory."""
        return found if self._place is None else _device.lent(found, self._kind)
