"""Orders, sides, cuts and parts of a graph: methods of `Graph`."""

from __future__ import annotations

import os
from typing import TypeVar

import numpy as np

from . import _device
from ._arrays import Array, whole
from ._errors import Error, OutOfMemoryError
from ._pairs import Pairs
from ._results import Biconnectivity
from ._storage import Vertex, Vertices

Same = TypeVar("Same", bound="Structure")


class Structure(Pairs):
    """The methods of `Graph` that look at its structure and take parts of it."""

    __slots__ = ()

    def topological_levels(self) -> list[Array]:
        """The vertices of a directed graph by the number of edges of the longest path to each.

        Returns
        -------
        list of ndarray
            An edge leads from a level to a later one. In the order of networkx's ``topological_generations``.

        Raises
        ------
        Error
            For an undirected graph, and for a cycle, with its vertices.

        Notes
        -----
        O(vertices + edges) on one thread. A self-loop is a cycle.
        """
        order, offsets, cycle = self._called("topological_order", False)
        if cycle.size > 0:
            shown = ", ".join(map(str, self.names(cycle[:8]))) + (", ..." if cycle.size > 8 else "")
            raise Error(f"topological_levels: the graph has a cycle of {cycle.size} vertices: {shown}")
        return np.split(order, offsets[1:-1]) if order.size > 0 else []

    def find_cycle(self) -> Array:
        """The vertices of one cycle of a directed graph, in the order of its edges; empty if there is none."""
        cycle: Array = self._called("topological_order", False)[2]
        return cycle

    def bipartition(self) -> Array | None:
        """The side, 0 or 1, of each vertex if every edge joins both sides; None for a graph with an odd cycle.

        Notes
        -----
        O(vertices + edges) on one thread. Directions are ignored. Isolated vertices have side 0.
        """
        sides, cycle = self._called("bipartition", True)
        return sides if cycle.size == 0 else None

    def find_odd_cycle(self) -> Array:
        """The vertices of one cycle of odd length, directions ignored; empty for a bipartite graph."""
        cycle: Array = self._called("bipartition", True)[1]
        return cycle

    def biconnectivity(self) -> Biconnectivity:
        """Bridges, articulation points and biconnected components of an undirected graph.

        Returns
        -------
        Biconnectivity

        Raises
        ------
        Error
            For a directed graph.

        Notes
        -----
        O(vertices + edges) on one thread.
        """
        sources, targets, points, vertices, offsets = self._called("biconnectivity", False)
        components = np.split(vertices, offsets[1:-1]) if vertices.size > 0 else []
        return Biconnectivity.of(self, np.column_stack((sources, targets)), points, components)

    def subgraph(self: Same, vertices: Vertices) -> Same:
        """These vertices, in ascending order, and the edges between them, with ids and weights.

        Parameters
        ----------
        vertices : array_like of vertices
            May repeat.

        Returns
        -------
        Graph
            Vertices that had no ids have their numbers in this graph as ids.
        """
        kept = np.zeros(self.vertices, bool)
        kept[self._chosen(vertices)] = True
        return self._induced(kept)

    def k_hop_neighborhood(self, source: Vertex, radius: int = 1) -> Array:
        """The vertices at most `radius` edges away from the source, which is one of them.

        Parameters
        ----------
        source : vertex
        radius : int, optional

        Returns
        -------
        ndarray of int
            Ascending.
        """
        levels = self.bfs(source, parents=None, max_depth=whole(radius, "k_hop_neighborhood: radius", 0)).levels
        levels = _device.downloaded(levels) if _device.kind_of(levels) is not None else levels
        return np.flatnonzero(levels >= 0)

    def ego_graph(self: Same, source: Vertex, radius: int = 1) -> Same:
        """The subgraph of `k_hop_neighborhood`.

        Parameters
        ----------
        source : vertex
        radius : int, optional

        Returns
        -------
        Graph
        """
        return self.subgraph(self.k_hop_neighborhood(source, radius))

    def reverse(self: Same) -> Same:
        """The same vertices with every edge reversed; an undirected graph itself."""
        if not self.directed:
            return self
        order = np.argsort(self.indices, kind="stable")
        counts = np.bincount(self.indices, minlength=self.vertices)
        offsets = np.append(0, np.cumsum(counts)).astype(self.offsets.dtype)
        weights = None if self.weights is None else self.weights[order]
        made = self._of(offsets, self._sources()[order], weights, True, self.nodes, self._multigraph)._moved(self._place)
        made._kind = self._kind
        return made

    def complement(self: Same) -> Same:
        """The same vertices with an edge, without weight, between every two different ones that have none.

        Raises
        ------
        OutOfMemoryError
            If the result does not fit into the memory that is available. It is not begun then.
        """
        n, size = self.vertices, 8
        needed = n * n * (size + 1)
        available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if needed > available:
            raise OutOfMemoryError(
                f"complement: {n} vertices need {needed} bytes, and {available} are available", "out_of_memory"
            )
        missing = np.ones((n, n), bool)
        missing[self._sources(), self.indices] = False
        np.fill_diagonal(missing, False)
        indices = np.nonzero(missing)[1]
        kind = np.int32 if max(n, indices.size) < 2**31 else np.int64
        offsets = np.append(0, np.cumsum(missing.sum(axis=1))).astype(kind)
        made = self._of(offsets, indices.astype(kind), None, self.directed, self.nodes)._moved(self._place)
        made._kind = self._kind
        return made

    def _total_degrees(self) -> Array:
        """The ends of edges at each vertex: both directions count, and a loop twice."""
        if self.directed:
            return np.diff(self.offsets) + np.bincount(self.indices, minlength=self.vertices)
        loops = self.indices[self.indices == self._sources()]
        return np.diff(self.offsets) + np.bincount(loops, minlength=self.vertices)
