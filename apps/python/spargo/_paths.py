"""Searches and shortest paths: methods of `Graph`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import _device
from ._arrays import Array, indices_of, whole
from ._config import threads
from ._errors import Error, UnsupportedError
from ._results import Bfs, MultiBfs, Sssp
from ._storage import Stored, Vertex, Vertices


class Paths(Stored):
    """The methods of `Graph` that search. A vertex is its number or an id that is not an integer."""

    __slots__ = ()

    def bfs(
        self,
        source: Vertex,
        *,
        target: Vertex | None = None,
        max_depth: int | None = None,
        parents: str | None = "any",
        in_edges: bool | None = None,
        algorithm: str = "automatic",
    ) -> Bfs:
        """Breadth-first search.

        Parameters
        ----------
        source : vertex
        target : vertex, optional
            Stop after the level that contains this vertex.
        max_depth : int, optional
            Vertices farther away stay unreached.
        parents : {'any', 'smallest'} or None, optional
            The parent among several neighbours one level nearer: the first one found, which differs between runs, or
            the one with the smallest number. None: no parents.
        in_edges : bool, optional
            Build the in-edges of a directed graph, which takes O(edges) once and makes searches faster. By default
            from the second search on.
        algorithm : {'automatic', 'sequential', 'load_balanced', 'direction_optimizing'}, optional

        Returns
        -------
        Bfs

        Raises
        ------
        Error
            For a vertex that does not exist.

        Notes
        -----
        O(vertices + edges). Levels are the same on every run.
        """
        source = self._vertex(source)
        stop = -1 if target is None else self._vertex(target)
        depth = -1 if max_depth is None else whole(max_depth, "bfs: max_depth", 0)
        which = "any" if parents is None else parents
        if in_edges is None:
            in_edges = self._in is not None or "bfs" in self._plans
        key = ("bfs", algorithm, parents, stop, depth, in_edges, threads())
        levels, found, reached, sizes, used, reason = self._planned(
            key,
            lambda: self._algorithm("bfs", in_edges)(
                algorithm, True, parents is not None, which, stop, depth, threads()
            ),
            source,
        )
        return Bfs.of(self, levels, None if parents is None else found, source, reached, sizes, used, reason)

    def bfs_order(self, source: Vertex) -> tuple[Array, Array]:
        """The vertices in the order of a queue, as SciPy and networkx visit them.

        Parameters
        ----------
        source : vertex

        Returns
        -------
        order : ndarray, shape (reached,)
            Neighbours come in the order in which they are stored.
        predecessors : ndarray, shape (vertices,)
            The vertex from which each one was found; -1 for the source and unreached vertices.

        Notes
        -----
        O(vertices + edges) on one thread. `bfs` is faster if the order does not matter.
        """
        order, predecessors = self._called("bfs_order", False, self._vertex(source))
        return order, predecessors

    def multi_bfs(self, sources: Vertices, *, levels: bool = True) -> MultiBfs:
        """Breadth-first searches from many sources; 64 or 256 searches share each pass over an edge.

        Parameters
        ----------
        sources : array_like of vertices, shape (k,)
            May repeat.
        levels : bool, optional
            False: only the numbers of reached vertices and the sums of distances, which saves 4 k vertices bytes.

        Returns
        -------
        MultiBfs

        Raises
        ------
        Error
            For a vertex that does not exist.
        """
        chosen = self._chosen(sources)
        if chosen.size == 0:
            empty = np.empty(0, dtype=np.int64)
            none = np.empty((0, self.vertices), dtype=np.int32) if levels else None
            return MultiBfs.of(self, none, empty, empty, empty.astype(np.int32))
        found, reached, sums, eccentricities = self._called("multi_bfs", True, chosen, levels, threads())
        by_source = found.reshape(self.vertices, chosen.size).T if levels else None
        return MultiBfs.of(self, by_source, reached, sums, eccentricities)

    def sssp(
        self,
        source: Vertex,
        *,
        target: Vertex | None = None,
        cutoff: float | None = None,
        parents: str | None = "any",
        delta: float = 0.0,
        algorithm: str = "automatic",
    ) -> Sssp:
        """Shortest paths from one vertex. Weights must be 0 or more; without weights each edge counts 1.

        Parameters
        ----------
        source : vertex
        target : vertex, optional
            Vertices farther away than this one stay unreached.
        cutoff : float, optional
            Vertices farther than this stay unreached.
        parents : {'any', 'smallest'} or None, optional
            As for `bfs`.
        delta : float, optional
            Width of a bucket; 0: chosen automatically. It affects the speed, not the result.
        algorithm : {'automatic', 'dijkstra', 'delta_stepping'}, optional

        Returns
        -------
        Sssp

        Raises
        ------
        Error
            For a negative weight, NaN, or a vertex that does not exist.
        NotImplementedError
            For a distance that its type cannot represent: with integer weights, 2^63 - 1 or more.

        Notes
        -----
        Distances have the same bits for every algorithm and any number of threads.
        """
        source = self._vertex(source)
        stop = -1 if target is None else self._vertex(target)
        limit = math.inf if cutoff is None else float(cutoff)
        which = "any" if parents is None else parents
        key = ("sssp", algorithm, parents, stop, limit, delta, threads())
        distances, found, reached, used, reason = self._planned(
            key,
            lambda: self._algorithm("sssp", False)(
                self._weights(), algorithm, parents is not None, which, stop, limit, delta, threads()
            ),
            source,
        )
        if reached < self.vertices:
            self._refuse_longer_paths(source, stop, limit, distances)
        return Sssp.of(self, distances, None if parents is None else found, source, reached, used, reason)

    def bellman_ford(self, source: Vertex) -> Sssp:
        """Shortest paths from one vertex along edges whose weights may be negative.

        Parameters
        ----------
        source : vertex

        Returns
        -------
        Sssp

        Raises
        ------
        Error
            For a negative cycle that the source reaches, a weight that is no number, or a vertex that does not exist.
        NotImplementedError
            Where rounding alone shortens a cycle, as beside weights of very different size.

        Notes
        -----
        O(vertices * edges) at worst, on one thread of the host. With weights of 0 or more the distances have the bits of
        `sssp`, which is faster. An undirected edge of negative weight is a negative cycle.
        """
        number = self._vertex(source)
        distances, parents, reached, cycle = self._of_any_sign(np.array([number]))
        if cycle.size > 0:
            raise Error(f"bellman_ford: a cycle of negative weight through vertex {cycle[0]} (expected none that vertex {number} "
                        "reaches)", "invalid_data")
        return Sssp.of(self, distances, parents, number, reached, "bellman_ford", "")

    def find_negative_cycle(self, source: Vertex | None = None) -> Array:
        """The vertices of a cycle whose weights have a negative sum, in the order of its edges; empty if there is none.

        Parameters
        ----------
        source : vertex, optional
            Only cycles that it reaches; by default any.
        """
        cycle: Array = self._of_any_sign(None if source is None else np.array([self._vertex(source)]))[3]
        return cycle

    def _of_any_sign(self, sources: Array | None) -> Any:
        """(distances, parents, reached, negative cycle) from the nearest of some vertices, by default of all."""
        graph = self._on_host()
        given = None if sources is None else np.ascontiguousarray(sources, graph._index_type())
        return graph._called("bellman_ford", False, graph._weights(), given)

    def _refuse_longer_paths(self, source: int, target: int, cutoff: float, distances: Any) -> None:
        """Refuses paths that are too long for a distance: their ends look unreached."""
        weights = (self._host or self._there or (None, None, None))[2]
        if weights is None:
            return
        whole_numbers = weights.dtype.kind == "i"
        none = np.iinfo(np.int64).max if whole_numbers else math.inf
        most = np.iinfo(weights.dtype).max if whole_numbers else float(np.finfo(weights.dtype).max)
        steps = 2 * self.vertices  # twice as many as there may be: sums are rounded
        if cutoff < none or most * steps < none or self._largest_weight() * steps < none:
            return
        distances = _device.downloaded(distances)
        if target >= 0 and distances[target] != none:
            return
        graph = self._for_numpy()
        finite = np.isfinite(graph._here()[2])  # type: ignore[arg-type]
        graph = graph if finite.all() else graph._kept(finite)
        lost = np.flatnonzero((distances == none) & (graph.bfs(source, parents=None).levels >= 0))
        if lost.size > 0:
            kind, limit = ("int64", "2^63 - 1; weights of float64 round") if whole_numbers else ("float64", "2^1024")
            raise UnsupportedError(
                f"sssp: vertex {lost[0]} is farther than {kind} holds (expected paths shorter than {limit})", "unsupported"
            )

    def _chosen(self, sources: Vertices | None) -> Array:
        if _device.kind_of(sources) is not None:
            sources = _device.downloaded(sources)
        chosen = indices_of(np.empty(0, np.int32) if sources is None else self._vertices(sources), "sources")
        for number in (chosen.min(), chosen.max()) if chosen.size > 0 else ():
            self._vertex(number)
        return np.ascontiguousarray(chosen, dtype=self._index_type())

    def _given_sources(self, sources: Vertices | None) -> Array | None:
        return None if sources is None else self._chosen(sources)

    def _index_type(self) -> np.dtype[Any]:
        kind: np.dtype[Any] = (self._host or self._arrays())[1].dtype
        return kind

    def _weights(self) -> Any:
        """Weights on the graph's device; 1 for each edge if it has none."""
        if self._there is not None and self._there[2] is not None:
            return self._there[2]
        weights = self.weights
        entries = (self._host or self._arrays())[1].size
        return self._argument(np.ones(entries, np.int32) if weights is None else weights)
