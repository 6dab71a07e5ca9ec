"""Paths between vertices, distances of pairs and of all vertices: methods of `Graph`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _device
from ._arrays import Array, dense, whole
from ._config import threads
from ._errors import Error, UnsupportedError
from ._paths import Paths
from ._results import Path
from ._storage import Vertex, Vertices


class Pairs(Paths):
    """The methods of `Graph` that find paths and distances between given vertices."""

    __slots__ = ()

    def has_path(self, source: Vertex, target: Vertex) -> bool:
        """Whether a path leads from the source to the target.

        Parameters
        ----------
        source, target : vertex

        Returns
        -------
        bool
        """
        return self._path_of_edges(source, target).size > 0

    def _path_of_edges(self, source: Vertex, target: Vertex) -> Array:
        """The vertices of a path with the fewest edges; from both ends where in-edges are there."""
        in_edges = not self.directed or self._in is not None
        graph = self._on_host()
        path: Array = graph._called("path_of_edges", in_edges, self._vertex(source), self._vertex(target))
        return path

    def shortest_path(
        self,
        source: Vertex,
        target: Vertex,
        *,
        weighted: bool | None = None,
        coordinates: npt.ArrayLike | None = None,
        metric: str = "euclidean",
        scale: float | None = None,
    ) -> Path:
        """A shortest path between two vertices.

        Parameters
        ----------
        source, target : vertex
        weighted : bool, optional
            Whether weights are lengths of edges; otherwise each edge counts 1. By default if the graph has weights.
        coordinates : array_like of float, shape (vertices, dimensions), optional
            Places of the vertices. The search (A*) then expands vertices in the order of the length so far plus `scale`
            times the distance to the target.
        metric : {'euclidean', 'great_circle'}, optional
            Distance between coordinates. 'great_circle': between longitudes and latitudes in degrees, on a sphere of
            radius 1.
        scale : float, optional
            Least length of a path per unit of distance; no edge may be shorter. By default the largest such number.

        Returns
        -------
        Path

        Raises
        ------
        Error
            For a negative weight, a vertex that does not exist, or coordinates or a scale that do not fit.

        Notes
        -----
        On one thread of the CPU. Without coordinates an undirected graph is searched from both ends.
        """
        start, end = self._vertex(source), self._vertex(target)
        weighted = self.weights is not None if weighted is None else weighted
        if coordinates is None and not weighted:
            path = self._path_of_edges(start, end)
            return Path.of(self, path, path.size - 1 if path.size > 0 else np.inf, 0)
        graph, places, dimensions = self._on_host(), None, 2
        if coordinates is not None:
            places = np.ascontiguousarray(dense(coordinates, "coordinates"), np.float64)
            if places.ndim != 2 or places.shape[0] != self.vertices:
                raise Error(f"shortest_path: coordinates of shape {places.shape} (expected ({self.vertices}, dimensions))")
            dimensions = places.shape[1]
        values = graph._lengths(weighted)
        flat = None if places is None else places.ravel()
        made = graph._algorithm("path_finder", False)(values, flat, dimensions, metric, -1.0 if scale is None else scale)
        path, length, expanded = made.run(start, end)
        return Path.of(self, path, length if path.size > 0 else np.inf, expanded)

    def k_shortest_paths(self, source: Vertex, target: Vertex, k: int, *, weighted: bool | None = None) -> list[Path]:
        """The k shortest paths without repeated vertices, the shortest first; all of them if there are fewer.

        Parameters
        ----------
        source, target : vertex
        k : int
        weighted : bool, optional
            As for `shortest_path`.

        Returns
        -------
        list of Path

        Raises
        ------
        Error
            For a negative weight, or a vertex that does not exist.

        Notes
        -----
        Yen's algorithm on one thread of the CPU. The same paths on every run.
        """
        start, end, count = self._vertex(source), self._vertex(target), whole(k, "k_shortest_paths: k", 0)
        graph = self._on_host()
        found = graph._called("k_shortest_paths", False, graph._lengths(weighted), start, end, count)
        return [Path.of(self, path, length, 0) for path, length in found]

    def path_lengths(self, sources: Vertices, targets: Vertices, *, weighted: bool | None = None) -> Array:
        """The lengths of shortest paths from sources[k] to targets[k].

        Parameters
        ----------
        sources, targets : array_like of vertices, shape (k,)
        weighted : bool, optional
            As for `shortest_path`.

        Returns
        -------
        ndarray of float64, or of int64 for integer lengths, shape (k,)
            inf, or the largest int64, if no path leads to the target.

        Notes
        -----
        One search for each distinct source, which ends with the last of its targets; threads share the sources.
        """
        first, second = self._chosen(sources), self._chosen(targets)
        graph = self._on_host()
        lengths: Array = graph._called("path_lengths", False, graph._lengths(weighted), first, second, threads())
        return lengths

    def all_distances(
        self, sources: Vertices | None = None, *, weighted: bool | None = None, batch_bytes: int = 1 << 26
    ) -> Iterator[tuple[Array, Array]]:
        """Distances from many vertices to all, a batch at a time.

        Parameters
        ----------
        sources : array_like of vertices, optional
            By default all.
        weighted : bool, optional
            As for `shortest_path`.
        batch_bytes : int, optional
            Size of a batch of distances, which has one source at least.

        Yields
        ------
        sources : ndarray, shape (k,)
        distances : ndarray, shape (k, vertices)
            int32 levels, -1 if unreached, without weights; otherwise as from `path_lengths`.
        """
        chosen = np.arange(self.vertices, dtype=self._index_type()) if sources is None else self._chosen(sources)
        weighted = self.weights is not None if weighted is None else weighted
        width = 8  # bytes of a distance, or of a level, which is stored by vertex and by source
        batch = max(1, whole(batch_bytes, "all_distances: batch_bytes", 1) // max(1, width * self.vertices))
        return self._distances(chosen, weighted, batch)

    def _distances(self, chosen: Array, weighted: bool, batch: int) -> Iterator[tuple[Array, Array]]:
        graph = self._on_host() if weighted else self
        lengths = graph._lengths(True) if weighted else None
        for first in range(0, chosen.size, batch):
            own = chosen[first : first + batch]
            if weighted:
                rows = graph._called("distance_rows", False, lengths, own, threads()).reshape(own.size, self.vertices)
            else:
                levels: Any = self.multi_bfs(own).levels
                rows = _device.downloaded(levels) if _device.kind_of(levels) is not None else levels
            yield own, rows

    def _lengths(self, weighted: bool | None) -> Any:
        """The lengths of edges; 1 each without weights. Refuses graphs with paths that are too long for a distance."""
        weighted = self.weights is not None if weighted is None else weighted
        if not weighted:
            return np.ones(self.indices.size, np.int32)
        if self._has_long_paths():
            raise UnsupportedError(
                "weights whose sums a distance may not hold (expected sums below 2^63, or 2^1024 for floats)", "unsupported"
            )
        return self._weights()

    def _has_long_paths(self) -> bool:
        """Whether a path may be too long for a distance, so that its end would look unreached."""
        if self.weights is None:
            return False
        most = np.iinfo(np.int64).max if self.weights.dtype.kind == "i" else math.inf
        return not self._largest_weight() * 2 * self.vertices < most
