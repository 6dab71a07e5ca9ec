"""Graph algorithms: the methods of `Graph`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from . import _core, _device
from ._arrays import Array, flat, indices_of, whole
from ._config import threads
from ._errors import Error, UnsupportedError
from ._networkx_rows import in_networkx
from ._results import Bfs, Communities, MultiBfs, PageRank, SpanningForest, Sssp, Triangles
from ._storage import Stored, Vertex, Vertices

Same = TypeVar("Same", bound="Algorithms")


class Algorithms(Stored):
    """The methods of `Graph` that search, rank and count. A vertex is its number or an id that is not an integer."""

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
        return Bfs(levels, None if parents is None else found, source, reached, sizes, used, reason)

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
            return MultiBfs(none, empty, empty, empty.astype(np.int32))
        found, reached, sums, eccentricities = self._called("multi_bfs", True, chosen, levels, threads())
        by_source = found.reshape(self.vertices, chosen.size).T if levels else None
        return MultiBfs(by_source, reached, sums, eccentricities)

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
        return Sssp(distances, None if parents is None else found, source, reached, used, reason)

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

    def _weights(self) -> Any:
        """Weights on the graph's device; 1 for each edge if it has none."""
        if self._there is not None and self._there[2] is not None:
            return self._there[2]
        weights = self.weights
        entries = (self._host or self._arrays())[1].size
        return self._argument(np.ones(entries, np.int32) if weights is None else weights)

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

        In- and out-edges count, parallel edges separately; loops do not. Runs on the CPU only.

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
