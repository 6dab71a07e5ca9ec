"""Ranks of vertices and edges: methods of `Graph`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from . import _device
from ._arrays import Array, flat, whole
from ._config import threads
from ._errors import ConvergenceWarning, Error, UnsupportedError, warn
from ._results import Eigenvector, Hits, Katz, PageRank
from ._storage import Vertex, Vertices
from ._structure import Structure

Ranks = TypeVar("Ranks", PageRank, Eigenvector, Katz, Hits)


def _settled(found: Ranks, name: str, tolerance: float) -> Ranks:
    """The result, with a warning if it has not converged."""
    if not found.converged:
        count = f"{found.iterations:,} iteration{'s' * (found.iterations != 1)}"
        warn(f"{name}: not converged after {count}: the residual is {found.residual:.3g}, and {tolerance:g} is wanted", ConvergenceWarning)
    return found


class Centrality(Structure):
    """The methods of `Graph` that rank vertices and edges."""

    __slots__ = ()

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
            A vertex divides its rank in proportion to the weights of its out-edges, instead of equally.

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
        options = (wanted.name, damping, tolerance, norm, max_iterations, iterations, dangling, algorithm, threads())
        found = PageRank.of(self, *self._planned(
                ("pagerank", weighted, *options),
                lambda: self._algorithm("pagerank", not weighted)(
                    self._argument(self._weights(), np.dtype(np.float64)) if weighted else None, *options
                ),
                *vectors,
            )
        )
        return found if iterations > 0 else _settled(found, "pagerank", tolerance)

    def eigenvector(
        self,
        *,
        tolerance: float = 1e-6,
        max_iterations: int = 100,
        start: npt.ArrayLike | Mapping[Vertex, float] | None = None,
        weighted: bool = False,
    ) -> Eigenvector:
        """Eigenvector centrality: values in proportion to the sum of the in-neighbours' values.

        Parameters
        ----------
        tolerance : float, optional
            Stop when one step changes the values by less than this on average.
        max_iterations : int, optional
            Maximum number of iterations.
        start : array_like, shape (vertices,), or mapping of vertices to values, optional
            Nonnegative, not all 0; equal values by default.
        weighted : bool, optional
            Edges count by their weights.

        Returns
        -------
        Eigenvector

        Raises
        ------
        Error
            For options out of range, and for weights that are negative or not finite.

        Notes
        -----
        Iterates A + I, as networkx does. The same bits for any number of threads.
        """
        vector = self._rank_vector(start, "eigenvector", "start")
        most = whole(max_iterations, "eigenvector: max_iterations")
        return _settled(Eigenvector.of(self, *self._ranked("eigenvector", weighted, tolerance, most, vector, threads())), "eigenvector", tolerance)

    def katz(
        self,
        *,
        alpha: float | None = None,
        beta: float | npt.ArrayLike | Mapping[Vertex, float] = 1.0,
        tolerance: float = 1e-6,
        max_iterations: int = 1000,
        start: npt.ArrayLike | Mapping[Vertex, float] | None = None,
        normalized: bool = True,
        weighted: bool = False,
    ) -> Katz:
        """Katz centrality: beta plus alpha times the sum of the in-neighbours' values.

        Parameters
        ----------
        alpha : float, optional
            Converges below 1 / the largest eigenvalue. By default 0.9 / an upper bound on it, which is computed.
        beta : float, or array_like, shape (vertices,), or mapping of vertices to values, optional
            Nonnegative.
        tolerance : float, optional
            Stop when one step changes the values by less than this on average.
        max_iterations : int, optional
            Maximum number of iterations.
        start : array_like, shape (vertices,), or mapping of vertices to values, optional
            Nonnegative; zeros by default.
        normalized : bool, optional
            Scale the values to 2-norm 1.
        weighted : bool, optional
            Edges count by their weights.

        Returns
        -------
        Katz

        Raises
        ------
        Error
            For options out of range, and for weights that are negative or not finite.

        Notes
        -----
        The same bits for any number of threads.
        """
        if alpha is not None and alpha == 0:
            raise Error("katz: alpha 0 (expected more than 0, or None)")
        scalar = np.ndim(beta) == 0 and not isinstance(beta, Mapping)  # type: ignore[arg-type]
        constant = float(beta) if scalar else 0.0  # type: ignore[arg-type]
        vector = self._rank_vector(None if scalar else beta, "katz", "beta")
        first = self._rank_vector(start, "katz", "start")
        most = whole(max_iterations, "katz: max_iterations")
        options = (0.0 if alpha is None else alpha, constant, bool(normalized), tolerance, most)
        return _settled(Katz.of(self, *self._ranked("katz", weighted, *options, vector, first, threads())), "katz", tolerance)

    def hits(
        self,
        *,
        tolerance: float = 1e-8,
        max_iterations: int = 1000,
        start: npt.ArrayLike | Mapping[Vertex, float] | None = None,
        weighted: bool = False,
    ) -> Hits:
        """Hubs and authorities (HITS).

        Parameters
        ----------
        tolerance : float, optional
            Stop when one step changes the hubs by less than this in total.
        max_iterations : int, optional
            Maximum number of iterations.
        start : array_like, shape (vertices,), or mapping of vertices to values, optional
            Hub values to start from; nonnegative, not all 0.
        weighted : bool, optional
            Edges count by their weights.

        Returns
        -------
        Hits

        Raises
        ------
        Error
            For options out of range, and for weights that are negative or not finite.

        Notes
        -----
        The same bits for any number of threads.
        """
        vector = self._rank_vector(start, "hits", "start")
        most = whole(max_iterations, "hits: max_iterations")
        return _settled(Hits.of(self, *self._ranked("hits", weighted, tolerance, most, vector, threads())), "hits", tolerance)

    def _rank_vector(self, values: Any, method: str, name: str) -> Any:
        """A float64 vector with one value per vertex, or none."""
        given = self._by_vertex(values)
        vector = self._argument(
            np.empty(0) if given is None else given if _device.kind_of(given) else flat(given, method), np.dtype(np.float64)
        )
        if given is not None and vector.size != self.vertices:
            raise Error(f"{method}: {name} has {vector.size} values for {self.vertices} vertices")
        return vector

    def _ranked(self, method: str, weighted: bool, *arguments: Any) -> Any:
        """The library's function, over weights if wanted."""
        weights = self._argument(self._weights(), np.dtype(np.float64)) if weighted else None
        return self._called(method, not weighted, weights, *arguments)

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

    def closeness(
        self,
        sources: Vertices | None = None,
        *,
        measure: str = "closeness",
        scaled: bool = True,
        algorithm: str = "automatic",
    ) -> Array:
        """Closeness or harmonic centrality, by hops to each vertex. Weights are ignored.

        Parameters
        ----------
        sources : array_like of vertices, optional
            By default all vertices. Otherwise values are estimates from the distances of these sources.
        measure : {'closeness', 'harmonic'}, optional
            r over the sum of the distances of the r vertices that reach v, or the sum of inverse distances.
        scaled : bool, optional
            Multiply closeness by the share of vertices that reach v, as networkx does.
        algorithm : {'automatic', 'bit_parallel'}, optional

        Returns
        -------
        ndarray of float64, shape (vertices,)

        Notes
        -----
        O(sources * (vertices + edges) / 64) on small-world graphs. The same bits for any number of threads.
        """
        values: Array = self._called(
            "closeness", True, self._given_sources(sources), measure, scaled, algorithm, threads()
        )
        return values

    def eccentricities(self, *, max_searches: int = -1) -> tuple[Array, Array]:
        """Bounds of the largest distance from each vertex of the largest component, of a directed graph the strong one.

        Parameters
        ----------
        max_searches : int, optional
            Stop after this many searches; by default the bounds are exact.

        Returns
        -------
        lower, upper : ndarray of int32, shape (vertices,)
            Equal where exact; -1 outside of the component. Without a limit their maximum is the diameter.
        """
        lower, upper = self._called("eccentricities", True, whole(max_searches, "eccentricities: max_searches"), threads())
        return lower, upper

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
