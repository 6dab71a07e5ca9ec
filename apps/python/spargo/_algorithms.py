"""Components, counts, communities and trees: methods of `Graph`."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from . import _core, _device
from ._arrays import Array, seed_number, whole
from ._config import threads
from ._errors import Error
from ._layout import Layouts
from ._networkx_rows import in_networkx
from ._results import Communities, Similarity, SpanningForest, Triangles, Trusses
from ._samples import Samples
from ._storage import Vertices

Same = TypeVar("Same", bound="Algorithms")


class Algorithms(Layouts, Samples):
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
        return SpanningForest.of(self, *found)

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
        return Triangles.of(self, total, per_vertex, degrees)

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
        iterations: int = 0,
        initial: Vertices | None = None,
        algorithm: str = "automatic",
    ) -> Communities:
        """Communities, by Leiden, Louvain or label propagation.

        Parameters
        ----------
        method : {'leiden', 'louvain', 'cdlp'}, optional
            Leiden: maximizes the objective, and every community is connected. Louvain: an older way to do so. CDLP:
            label propagation, following LDBC Graphalytics.
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
            Levels of groups of vertices, of groups of these and so on; by default as many as gain. Louvain with k levels
            at most finds the k-th level of its hierarchy: its communities are unions of those of level k - 1.
        seed : int, optional
            Of the order in which vertices move. The same seed finds the same communities on any number of threads.
        iterations : int, optional
            Passes of Leiden, at most; 0: 2 for large graphs, up to 60 for small ones. CDLP: rounds, in each of which
            every vertex takes the label that most of its neighbours had before the round; 0: 10.
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
            seed_number(seed, "communities"),
            iterations,
            start,
            algorithm,
            threads(),
        )
        return Communities.of(self, count, labels, None if propagates else modularity, None if propagates else deepest)

    def similarity(
        self, pairs: Any = "edges", *, measure: str = "jaccard", top: int | None = None
    ) -> Similarity:
        """Similarity of vertices by their neighbours; in a directed graph by their out-neighbours.

        Self-loops do not count. With c common neighbours of vertices that have a and b: ``jaccard`` is c / (a + b - c),
        ``overlap`` c / min(a, b), ``sorensen`` 2 c / (a + b), ``cosine`` c / sqrt(a b), ``common-neighbors`` c.
        ``adamic-adar`` and ``resource-allocation`` are the sums of 1 / log(d) and 1 / d over the common neighbours,
        where d is the neighbour's degree, in a directed graph its in-degree. Without a common neighbour it is 0.

        Parameters
        ----------
        pairs : 'edges' or array_like of vertices, shape (pairs, 2), optional
            By default the ends of every edge, each edge once.
        measure : {'jaccard', 'overlap', 'sorensen', 'cosine', 'adamic-adar', 'resource-allocation', \
                'common-neighbors'}, optional
        top : int, optional
            For each vertex, the ``top`` most similar ones among all that have a common neighbour with it, instead of
            the pairs; the highest value first, of equal values the smallest vertex.

        Returns
        -------
        Similarity

        Notes
        -----
        The values have the same bits for any number of threads. All edges take O(edges^1.5) time; ``top`` takes the
        number of paths of two edges, and memory for its results only.
        """
        if top is not None:
            if not isinstance(pairs, str):
                raise Error("similarity: pairs are given, and the most similar vertices wanted (expected one of them)")
            return Similarity.of(self, *self._called("similarity", True, measure, whole(top, "similarity: top"), threads()))
        if isinstance(pairs, str):
            if pairs != "edges":
                raise Error(f"similarity: pairs={pairs!r} (expected 'edges' or an array)")
            return Similarity.of(self, *self._called("similarity", False, measure, 0, threads()))
        shape = getattr(pairs, "shape", None)
        if shape is None:
            shape = (len(pairs), 2 if all(len(pair) == 2 for pair in pairs) else 0)
            pairs = [end for pair in pairs for end in pair]
        else:
            pairs = pairs.reshape(-1)
        if len(shape) != 2 or shape[1] != 2:
            raise Error(f"similarity: pairs have shape {tuple(shape)} (expected two columns)")
        ends = self._chosen(pairs).reshape(-1, 2)
        sources = self._argument(ends[:, 0], self.indices.dtype)
        targets = self._argument(ends[:, 1], self.indices.dtype)
        values = self._called("similarity_of_pairs", False, sources, targets, measure, threads())
        return Similarity.of(self, sources, targets, values)

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

    def coloring(self, *, order: str = "automatic", seed: int = 0, algorithm: str = "automatic") -> Array:
        """A colouring: numbers from 0 on, different at the two ends of every edge, by few numbers.

        Each vertex takes the smallest colour that no neighbour before it has. Directions and loops are ignored.

        Parameters
        ----------
        order : {'automatic', 'largest-first', 'smallest-last', 'smallest-first', 'random'}, optional
            automatic: largest-first, by falling degree. smallest-last takes at most the largest core number + 1 colours.
        seed : int, optional
            Of a random order, and of ties.
        algorithm : {'automatic', 'in_order'}, optional

        Returns
        -------
        ndarray of the graph's indices, shape (vertices,)
            The same on the CPU and a GPU, for any number of threads.
        """
        colors: Array = self._called("coloring", True, order, seed_number(seed, "coloring"), algorithm, threads())[0]
        return colors

    def independent_set(self, *, order: str = "automatic", seed: int = 0, algorithm: str = "automatic") -> Array:
        """A maximal independent set: vertices of which no two are joined, and to which none can be added.

        A vertex is in the set unless a neighbour before it is. Directions and loops are ignored.

        Parameters
        ----------
        order : {'automatic', 'largest-first', 'smallest-last', 'smallest-first', 'random'}, optional
            automatic: smallest-first, by rising degree, which makes the set large.
        seed : int, optional
            Of a random order, and of ties.
        algorithm : {'automatic', 'in_order'}, optional

        Returns
        -------
        ndarray of the graph's indices
            The vertices of the set, ascending.
        """
        seed = seed_number(seed, "independent_set")
        members: Array = self._called("independent_set", True, order, seed, algorithm, threads())[0]
        return members

    def matching(self, *, order: str = "automatic", seed: int = 0, algorithm: str = "automatic") -> Array:
        """A maximal matching: edges of which no two share an end, and to which none can be added.

        Vertex after vertex takes its first neighbour that is free. Directions and loops are ignored.

        Parameters
        ----------
        order : {'automatic', 'largest-first', 'smallest-last', 'smallest-first', 'random'}, optional
            automatic: smallest-first, by rising degree, which makes the matching large.
        seed : int, optional
            Of a random order, and of ties.
        algorithm : {'automatic', 'in_order'}, optional

        Returns
        -------
        ndarray of the graph's indices, shape (vertices,)
            The other end of each vertex's edge, -1 for a vertex without one.
        """
        mates: Array = self._called("matching", True, order, seed_number(seed, "matching"), algorithm, threads())[0]
        return mates

    def bipartite_matching(self) -> tuple[Array, Array]:
        """A maximum matching of a bipartite graph and a minimum vertex cover, on one thread of the CPU.

        Returns
        -------
        mates : ndarray of the graph's indices, shape (vertices,)
            The other end of each vertex's edge, -1 for a vertex without one.
        cover : ndarray of bool, shape (vertices,)
            A smallest set of vertices that has an end of every edge: as many as the matching has edges.

        Raises
        ------
        Error
            For a graph that is not bipartite.

        Notes
        -----
        Hopcroft and Karp's algorithm, O(sqrt(vertices) edges), and Koenig's theorem. Directions are ignored.
        """
        mates, cover = self._called("bipartite_matching", False)
        return mates, cover.astype(bool)

    def trusses(self, *, algorithm: str = "automatic") -> Trusses:
        """Truss numbers: the largest k for which an edge is in a subgraph whose edges are all in k - 2 triangles or more.

        Self-loops never count, and parallel edges count once.

        Parameters
        ----------
        algorithm : {'automatic', 'peel'}, optional

        Returns
        -------
        Trusses

        Raises
        ------
        NotImplementedError
            For a directed graph.

        Notes
        -----
        O(edges**1.5).
        """
        return Trusses.of(self, *self._called("trusses", False, 0, algorithm, threads()))

    def k_truss(self: Same, k: int) -> Same:
        """The k-truss: the edges that are in k - 2 triangles of such edges or more, with their vertices' ids.

        Takes less time than `trusses`.

        Parameters
        ----------
        k : int
            At least 2; the 2-truss has all edges but self-loops.

        Returns
        -------
        Graph
            Without vertices that have no edges in it.

        Raises
        ------
        NotImplementedError
            For a directed graph.
        """
        least = whole(k, "k_truss: k", 2)
        own = self._for_numpy()
        ends = own._called("trusses", False, least, "automatic", threads())[:2]

        def keys(first: Array, second: Array) -> npt.NDArray[np.int64]:
            return first.astype(np.int64) * self.vertices + second

        sources, targets = own._sources(), own.indices
        kept = np.isin(keys(np.minimum(sources, targets), np.maximum(sources, targets)), keys(*ends))
        inside = np.zeros(self.vertices, bool)
        inside[sources[kept]] = True
        return self._kept(kept)._induced(inside)
