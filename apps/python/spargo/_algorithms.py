"""Components, ranks, counts, communities and trees: methods of `Graph`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from . import _core, _device
from ._arrays import Array, flat, whole
from ._config import threads
from ._errors import Error, UnsupportedError
from ._networkx_rows import in_networkx
from ._paths import Paths
from ._results import Communities, PageRank, SpanningForest, Triangles
from ._storage import Vertex, Vertices

Same = TypeVar("Same", bound="Algorithms")


class Algorithms(Paths):
    """The methods of `Graph` that search, rank and count. A vertex is its number or an id that is not an integer."""

    __slots__ = ()

    def spanning_forest(
        self, *, maximum: bool = False, ignore_nan: bool = False, algorithm: str = "automatic"
    ) -> SpanningForest:
        """Minimum spanning forest of an undirected graph; without weights each edge counts 1.

        Weights may be negative. Self-loops never count. Of parallel edges the graph has one, by default the lightest
        (see `duplicates` of `Graph.from_edges`).

        Parameters
        ----------
        maximum : bool, optional
            The greatest total weight instead of the least.
        ignore_nan : bool, optional
            Leave out edges whose weight is NaN, instead of refusing them.
        algorithm : {'automatic', 'kruskal', 'boruvka'}, optional

        Returns
        -------
        SpanningForest

        Raises
        ------
        NotImplementedError
            For a directed graph.
        Error
            For a weight that is NaN.

        Notes
        -----
        Edges of equal weight are ordered by their ends, so the result is the same on every device and for any number
        of threads.
        """
        found = self._called(
            "spanning_forest", False, self._weights(), algorithm, bool(maximum), bool(ignore_nan), threads()
        )
        return SpanningForest(*found)

    def connected_components(
        self, *, connection: str = "weak", labels: str = "dense", algorithm: str = "automatic"
    ) -> tuple[int, Array]:
        """Connected components.

        Parameters
        ----------
        connection : {'weak', 'strong'}, optional
            Paths ignore direction, or follow it both ways.
        labels : {'dense', 'smallest_vertex', 'sinks_first'}, optional
            dense: 0 to count - 1, in the order of the components' smallest vertices. smallest_vertex: those vertices.
            sinks_first, for strong components: 0 to count - 1 in the order in which a depth-first search finishes them,
            so that no edge leads to a larger label.
        algorithm : {'automatic', 'union_find', 'afforest', 'tarjan', 'forward_backward'}, optional

        Returns
        -------
        count : int
        labels : ndarray of the graph's indices, shape (vertices,)
        """
        found, count, _ = self._called("components", connection == "strong", connection, labels, algorithm, threads())
        return count, found

    def pagerank(
        self,
        *,
        damping: float = 0.85,
        tolerance: float = 1e-6,
        norm: str = "l1",
        max_iterations: int = 1000,
        iterations: int = 0,
        personalization: npt.ArrayLike | Mapping[Vertex, float] | None = None,
        guess: npt.ArrayLike | Mapping[Vertex, float] | None = None,
        dangling: str = "personalization",
        dtype: npt.DTypeLike = np.float64,
        algorithm: str = "automatic",
        weighted: bool = False,
    ) -> PageRank:
        """PageRank.

        Parameters
        ----------
        damping : float, optional
            0 to 1, 1 excluded.
        tolerance : float, optional
            Stop when one step changes the ranks by at most this.
        norm : {'l1', 'linf'}, optional
        max_iterations : int, optional
            Maximum number of iterations.
        iterations : int, optional
            Above 0: run exactly this many.
        personalization, guess : array_like, shape (vertices,), or mapping of vertices to values, optional
            Restart distribution and initial ranks; nonnegative, not all 0. Vertices that a mapping lacks have 0.
        dangling : {'personalization', 'uniform', 'drop'}, optional
            Where the rank of vertices without out-edges goes.
        dtype : {float64, float32}, optional
        algorithm : {'automatic', 'jacobi', 'gauss_seidel'}, optional
            jacobi gives the same bits for any number of threads.
        weighted : bool, optional
            A vertex divides its rank in proportion to the weights of its out-edges, instead of equally. On the CPU.

        Returns
        -------
        PageRank

        Raises
        ------
        Error
            For options out of range, and for weights that are negative or not finite.
        """
        wanted = np.dtype(dtype)
        if wanted not in (np.float32, np.float64):
            raise UnsupportedError(f"pagerank: ranks of {wanted}", "unsupported")
        max_iterations = whole(max_iterations, "pagerank: max_iterations")
        iterations = whole(iterations, "pagerank: iterations")
        given = [self._by_vertex(a) for a in (personalization, guess)]
        vectors = [
            self._argument(np.empty(0) if a is None else a if _device.kind_of(a) else flat(a, "pagerank"), wanted)
            for a in given
        ]
        for name, a, vector in zip(("personalization", "guess"), given, vectors):
            if a is not None and vector.size != self.vertices:
                raise Error(f"pagerank: {name} has {vector.size} values for {self.vertices} vertices")
        if weighted and self._place is not None:
            raise UnsupportedError("Graph.pagerank: weights count on the CPU only (expected device='cpu')", "unsupported")
        options = (wanted.name, damping, tolerance, norm, max_iterations, iterations, dangling, algorithm, threads())
        return PageRank(
            *self._planned(
                ("pagerank", weighted, *options),
                lambda: self._algorithm("pagerank", not weighted)(np.ascontiguousarray(self._weights(), np.float64) if weighted else None, *options),
                *vectors,
            )
        )

    def _by_vertex(self, values: Any) -> Any:
        """One value per vertex from a mapping, 0 for vertices that it lacks; anything else unchanged."""
        if not isinstance(values, Mapping):
            return values
        vector = np.zeros(self.vertices)
        vertices = list(map(self._vertex, values))
        vector[vertices] = list(values.values())
        if len(set(vertices)) < len(vertices):
            raise Error(f"a mapping has vertex {max(vertices, key=vertices.count)} twice, by its number and its id")
        return vector

    def betweenness(
        self,
        sources: Vertices | None = None,
        *,
        normalization: str = "pairs",
        endpoints: bool = False,
        algorithm: str = "automatic",
    ) -> Array:
        """Betweenness centrality, exact or from some sources. Weights are ignored, parallel edges count once.

        Parameters
        ----------
        sources : array_like of vertices, optional
            By default all vertices; an empty list gives zeros.
        normalization : {'pairs', 'none', 'maximum'}, optional
            Divide by the number of possible pairs, as networkx does; do not divide; or divide by the largest value.
        endpoints : bool, optional
            Count a path for its two ends as well.
        algorithm : {'automatic', 'by_level', 'by_source'}, optional

        Returns
        -------
        ndarray of float64, shape (vertices,)

        Notes
        -----
        O(sources * (vertices + edges)).
        """
        graph, _ = self._merged() or (self, None)
        values: Array = graph._called(
            "betweenness", True, self._given_sources(sources), normalization, endpoints, algorithm, threads()
        )
        return values

    def edge_betweenness(self, sources: Vertices | None = None, *, normalization: str = "pairs") -> Array:
        """Betweenness centrality of edges, exact or from some sources. Weights are ignored.

        Parameters
        ----------
        sources : array_like of vertices, optional
            By default all vertices; an empty list gives zeros.
        normalization : {'pairs', 'none', 'maximum'}, optional
            As for `betweenness`, over pairs of vertices or the largest edge's value.

        Returns
        -------
        ndarray of float64, shape of `indices`
            One value per stored edge, for the paths in its direction. An undirected edge is stored in both directions:
            the two values are equal if all vertices are sources; otherwise add them. Parallel edges share one edge's
            value equally.

        Notes
        -----
        O(sources * (vertices + edges)).
        """
        chosen = self._given_sources(sources)
        merged = self._merged()
        values: Array
        if merged is None:
            values = self._called("edge_betweenness", True, chosen, normalization, threads())
            return values
        graph, entry = merged
        largest = normalization == "maximum"
        found = graph._algorithm("edge_betweenness", True)(chosen, "none" if largest else normalization, threads())
        shared = _device.downloaded(found)[entry] / np.bincount(entry)[entry]
        values = self._results(self._argument(shared / (shared.max(initial=0) or 1) if largest else shared))
        return values

    def triangles(self, *, algorithm: str = "automatic") -> Triangles:
        """Triangles: three vertices joined pairwise. Directions, loops and duplicate edges are ignored.

        Parameters
        ----------
        algorithm : {'automatic', 'merge', 'bitmap'}, optional

        Returns
        -------
        Triangles

        Notes
        -----
        O(edges^1.5) at most.
        """
        total, per_vertex, _, degrees = self._called("triangles", False, False, algorithm, threads())
        return Triangles(total, per_vertex, degrees)

    def clustering(self, *, directed: bool = False) -> Array:
        """Local clustering coefficients: the share of pairs of a vertex's neighbours that are joined.

        Parameters
        ----------
        directed : bool, optional
            Count directed edges between neighbours, and ordered pairs, as LDBC Graphalytics does.

        Returns
        -------
        ndarray of float64, shape (vertices,)
            0 for fewer than two neighbours.
        """
        _, per_vertex, links, degrees = self._algorithm("triangles", False)(directed, "automatic", threads())
        counts = links if directed else per_vertex
        values: Array = self._results(_core.local_clustering(counts, degrees, directed, threads()))
        return values

    def transitivity(self) -> float:
        """Three times the triangles over the pairs of edges that share an end; 0 without such pairs."""
        total, _, _, degrees = self._algorithm("triangles", False)(False, "automatic", threads())
        degrees = _device.downloaded(degrees) if _device.is_vector(degrees) else degrees
        return float(_core.transitivity(total, degrees))

    def communities(
        self,
        method: str = "leiden",
        *,
        weights: bool = True,
        objective: str = "modularity",
        resolution: float = 1,
        tolerance: float = 1e-7,
        max_levels: int | None = None,
        seed: int = 1,
        iterations: int = 10,
        initial: Vertices | None = None,
        algorithm: str = "automatic",
    ) -> Communities:
        """Communities, by Leiden, Louvain or label propagation.

        Parameters
        ----------
        method : {'leiden', 'louvain', 'cdlp'}, optional
            Leiden: maximizes the objective, and every community is connected. Louvain: an older way to do so. CDLP:
            label propagation, following LDBC Graphalytics. On a GPU CDLP only.
        weights : bool, optional
            Use the graph's weights, if it has some. CDLP does not.
        objective : {'modularity', 'cpm'}, optional
            CPM, the constant Potts model: the weight inside communities, less the resolution for each pair of vertices.
            CDLP does not use it, nor the resolution, the tolerance, `max_levels` and the seed.
        resolution : float, optional
            Larger ones find more and smaller communities.
        tolerance : float, optional
            A pass of Leiden that gains no more is the last. Louvain takes one pass.
        max_levels : int, optional
            Levels of groups of vertices, of groups of these and so on; by default as many as gain.
        seed : int, optional
            Of the order in which vertices move. The same seed finds the same communities on any number of threads.
        iterations : int, optional
            Passes of Leiden, at most. CDLP: rounds, in each of which every vertex takes the label that most of its
            neighbours had before the round.
        initial : array_like of vertices, shape (vertices,), optional
            Initial labels, 0 to vertices - 1; by default each vertex's own number.
        algorithm : {'automatic', 'all_vertices', 'frontier'}, optional
            Of CDLP.

        Returns
        -------
        Communities

        Raises
        ------
        Error
            For a weight that is negative, infinite or NaN.

        Notes
        -----
        Self-loops count for Leiden and Louvain, as in networkx.
        """
        iterations = whole(iterations, "communities: iterations")
        levels = 2**31 if max_levels is None else whole(max_levels, "communities: max_levels")
        start = self._argument(self._chosen(initial))
        if initial is not None and start.size != self.vertices:
            raise Error(f"communities: {start.size} initial labels for {self.vertices} vertices")
        propagates = method == "cdlp"
        graph = self._without_loops() if propagates else self
        given = graph._weights() if weights and not propagates and graph.weights is not None else False
        labels, count, _, modularity, deepest = graph._called(
            "communities",
            propagates,
            given,
            method,
            objective,
            float(resolution),
            float(tolerance),
            levels,
            whole(seed, "communities: seed", 0),
            iterations,
            start,
            algorithm,
            threads(),
        )
        return Communities(count, labels, None if propagates else modularity, None if propagates else deepest)

    @in_networkx("core_number", "simple", "no_loops")
    def core_numbers(self, *, algorithm: str = "automatic") -> Array:
        """Core numbers: the largest k for which a vertex is in a subgraph whose vertices all have k neighbours or more.

       

        Parameters
        ----------
        algorithm : {'automatic', 'peel'}, optional

        Returns
        -------
        ndarray of the graph's indices, shape (vertices,)

        Notes
        -----
        O(vertices + edges).
        """
        values: Array = self._called("core_numbers", True, algorithm, threads())
        return values

    def k_core(self: Same, k: int | None = None) -> Same:
        """The k-core: the vertices with core number k or more, with their ids, and the edges between them.

        Parameters
        ----------
        k : int, optional
            By default the largest core number.

        Returns
        -------
        Graph
        """
        cores = self._for_numpy().core_numbers()
        least = cores.max(initial=0) if k is None else whole(k, "k_core: k", 0)
        return self._induced(cores >= least)
