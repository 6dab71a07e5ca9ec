"""Results of `Graph`'s methods."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from ._arrays import Array
from ._table import Column, Ids, Table, on_host, reached

Same = TypeVar("Same", bound="Result")


class Result:
    """What all results have: a tuple that is also a table, whose vertices have the graph's ids.

    A table by vertex has the ids in its column ``id``; in other columns a vertex, such as a parent, is its id as well.
    What is unreached is null.
    """

    _by_vertex: ClassVar[bool] = False
    # A table's columns: the field, and whether it holds values, vertices, or lengths of paths.
    _columns: ClassVar[dict[str, tuple[str, str]]] = {}
    _ids: Ids | None = None

    @classmethod
    def of(cls: type[Same], graph: Any, *fields: Any) -> Same:
        """The result for a graph, whose ids its tables have.

        Parameters
        ----------
        graph : Graph
        fields
            Of the tuple.
        """
        made = cls(*fields)
        made._ids = Ids(graph.nodes, graph.vertices)
        return made

    def to_arrow(self) -> Table:
        """The result as a `Table`, which every library that reads Arrow's PyCapsule interface takes."""
        fields = ((name, getattr(self, field), kind) for name, (field, kind) in self._columns.items())
        found = {name: (on_host(values), kind) for name, values, kind in fields if values is not None}
        size = max((values.size for values, _ in found.values()), default=0)
        ids = self._ids or Ids(None, size)
        columns = {"id": Column(ids.all())} if self._by_vertex else {}
        for name, (values, kind) in found.items():
            columns[name] = ids.of(values) if kind == "vertex" else reached(values) if kind == "length" else Column(values)
        return Table(columns)

    def to_pandas(self) -> Any:
        """The result as a ``pandas.DataFrame`` (pandas must be installed), by the vertices' ids where it is by vertex."""
        return self.to_arrow().to_pandas()


class _Bfs(NamedTuple):
    levels: Array
    parents: Array | None
    source: int
    reached: int
    level_sizes: Array
    algorithm: str
    reason: str


class _Communities(NamedTuple):
    count: int  # type: ignore[assignment]  # hides tuple.count
    labels: Array
    modularity: float | None
    levels: int | None


class _MultiBfs(NamedTuple):
    levels: Array | None
    reached: Array
    distance_sums: Array
    eccentricities: Array


class _Sssp(NamedTuple):
    distances: Array
    parents: Array | None
    source: int
    reached: int
    algorithm: str
    reason: str


class _SpanningForest(NamedTuple):
    sources: Array
    targets: Array
    weights: Array
    total_weight: float
    trees: int
    algorithm: str


class _Similarity(NamedTuple):
    sources: Array
    targets: Array
    values: Array


class _NeighborSample(NamedTuple):
    node: Array
    row: Array
    col: Array
    edge: Array
    num_sampled_nodes: list[int]
    num_sampled_edges: list[int]


class _PageRank(NamedTuple):
    ranks: Array
    iterations: int
    residual: float
    converged: bool
    algorithm: str


class _Eigenvector(NamedTuple):
    values: Array
    iterations: int
    residual: float
    converged: bool
    eigenvalue: float


class _Katz(NamedTuple):
    values: Array
    iterations: int
    residual: float
    converged: bool
    alpha: float


class _Hits(NamedTuple):
    hubs: Array
    authorities: Array
    iterations: int
    residual: float
    converged: bool


class _Triangles(NamedTuple):
    total: int
    per_vertex: Array
    degrees: Array


class _Trusses(NamedTuple):
    sources: Array
    targets: Array
    numbers: Array
    max_k: int
    algorithm: str


class _Biconnectivity(NamedTuple):
    bridges: Array
    articulation_points: Array
    components: list[Array]


class _Path(NamedTuple):
    vertices: Array
    length: float
    expanded: int


class Bfs(Result, _Bfs):
    """Result of `Graph.bfs`.

    Attributes
    ----------
    levels : ndarray of int32, shape (vertices,)
        Distance from the source in edges; -1 for unreached vertices and those beyond a target or depth.
    parents : ndarray of the graph's indices, shape (vertices,), or None
        A neighbour one level nearer; -1 if unreached. The source is its own parent.
    source : int
    reached : int
        Number of reached vertices, including the source.
    level_sizes : ndarray of int64, shape (depth + 1,)
    algorithm, reason : str
    """

    _by_vertex = True
    _columns = {"level": ("levels", "length"), "parent": ("parents", "vertex")}


class Communities(Result, _Communities):
    """Result of `Graph.communities`.

    Attributes
    ----------
    count : int
        Number of communities.
    labels : ndarray of the graph's indices, shape (vertices,)
        Leiden and Louvain: the smallest vertex of each vertex's community. Label propagation: any vertex.
    modularity : float or None
        At the resolution asked for; with the constant Potts model at resolution 1. None for label propagation.
    levels : int or None
        Levels of the last pass. None for label propagation.
    """

    _by_vertex = True
    _columns = {"community": ("labels", "vertex")}


class MultiBfs(Result, _MultiBfs):
    """Result of `Graph.multi_bfs`, with a value for each source.

    Attributes
    ----------
    levels : ndarray of int32, shape (sources, vertices), or None
        Distance from each source in edges; -1 if unreached. In Fortran order: a vertex's levels are contiguous.
    reached : ndarray of int64, shape (sources,)
    distance_sums : ndarray of int64, shape (sources,)
    eccentricities : ndarray of int32, shape (sources,)
    """

    _columns = {"reached": ("reached", "value"), "distance_sum": ("distance_sums", "value"), "eccentricity": ("eccentricities", "value")}


class Sssp(Result, _Sssp):
    """Result of `Graph.sssp`.

    Attributes
    ----------
    distances : ndarray, shape (vertices,)
        int64 for integer weights, 2^63 - 1 if unreached; otherwise float64, inf if unreached.
    parents : ndarray of the graph's indices, shape (vertices,), or None
        -1 if unreached. The source is its own parent.
    source : int
    reached : int
        Number of reached vertices, including the source.
    algorithm, reason : str
    """

    _by_vertex = True
    _columns = {"distance": ("distances", "length"), "parent": ("parents", "vertex")}


class SpanningForest(Result, _SpanningForest):
    """Result of `Graph.spanning_forest`.

    Attributes
    ----------
    sources, targets : ndarray of the graph's indices, shape (edges,)
        The ends of each edge, the smaller first; edges ascend by them.
    weights : ndarray, shape (edges,)
    total_weight : int or float
    trees : int
        Vertices without edges are trees.
    algorithm : str
    """

    _columns = {"source": ("sources", "vertex"), "target": ("targets", "vertex"), "weight": ("weights", "value")}


class Similarity(Result, _Similarity):
    """Result of `Graph.similarity`: the value of each pair.

    Attributes
    ----------
    sources, targets : ndarray of the graph's indices, shape (pairs,)
        Edges ascend by (source, target), in an undirected graph the smaller end first; the most similar vertices ascend
        by source, and follow by value.
    values : ndarray of float64, shape (pairs,)
    """

    _columns = {"source": ("sources", "vertex"), "target": ("targets", "vertex"), "value": ("values", "value")}


class NeighborSample(Result, _NeighborSample):
    """Result of `Graph.sample_neighbors`, in the layout of PyTorch Geometric's ``SamplerOutput``.

    Edge k leads from ``node[row[k]]``, which was drawn, to ``node[col[k]]``, which it was drawn for.

    Attributes
    ----------
    node : ndarray of the graph's indices, shape (nodes,)
        The vertices of the sample: the seeds, then others in the order in which edges lead to them.
    row, col : ndarray of the graph's indices, shape (edges,)
        Positions in `node`. Edges follow each other by hop, then by `col`.
    edge : ndarray of the graph's offsets, shape (edges,)
        Entries of the graph: ``graph.indices[edge] == node[row]``.
    num_sampled_nodes : list of int
        The seeds, and the new vertices of each hop.
    num_sampled_edges : list of int
        The edges of each hop.
    """

    _columns = {"source": ("_sources", "vertex"), "target": ("_targets", "vertex"), "edge": ("edge", "value")}

    @property
    def _sources(self) -> Array:
        return on_host(self.node)[on_host(self.row)]

    @property
    def _targets(self) -> Array:
        return on_host(self.node)[on_host(self.col)]


class PageRank(Result, _PageRank):
    """Result of `Graph.pagerank`.

    Attributes
    ----------
    ranks : ndarray of float32 or float64, shape (vertices,)
    iterations : int
    residual : float
        Change of the ranks by the last step.
    converged : bool
        If False, a `ConvergenceWarning` says so.
    algorithm : str
    """

    _by_vertex = True
    _columns = {"rank": ("ranks", "value")}


class Eigenvector(Result, _Eigenvector):
    """Result of `Graph.eigenvector`.

    Attributes
    ----------
    values : ndarray, shape (vertices,)
        With 2-norm 1.
    iterations : int
    residual : float
        Change of the values by the last step in sum, divided by the vertices.
    converged : bool
        If False, a `ConvergenceWarning` says so.
    eigenvalue : float
        The largest, from the last step.
    """

    _by_vertex = True
    _columns = {"value": ("values", "value")}


class Katz(Result, _Katz):
    """Result of `Graph.katz`.

    Attributes
    ----------
    values : ndarray, shape (vertices,)
    iterations : int
    residual : float
        Change of the values by the last step in sum, divided by the vertices.
    converged : bool
        If False, a `ConvergenceWarning` says so.
    alpha : float
    """

    _by_vertex = True
    _columns = {"value": ("values", "value")}


class Hits(Result, _Hits):
    """Result of `Graph.hits`.

    Attributes
    ----------
    hubs, authorities : ndarray, shape (vertices,)
        Each sums to 1; both are 0 for a graph without edges.
    iterations : int
    residual : float
        Change of the hubs by the last step in sum.
    converged : bool
        If False, a `ConvergenceWarning` says so.
    """

    _by_vertex = True
    _columns = {"hub": ("hubs", "value"), "authority": ("authorities", "value")}


class Triangles(Result, _Triangles):
    """Result of `Graph.triangles`.

    Attributes
    ----------
    total : int
    per_vertex : ndarray of int64, shape (vertices,)
        Number of triangles that contain each vertex.
    degrees : ndarray of the graph's indices, shape (vertices,)
        Number of distinct neighbours, in either direction, without the vertex itself.
    """

    _by_vertex = True
    _columns = {"triangles": ("per_vertex", "value"), "degree": ("degrees", "value")}


class Trusses(Result, _Trusses):
    """Result of `Graph.trusses`.

    Attributes
    ----------
    sources, targets : ndarray of the graph's indices, shape (edges,)
        The ends of each edge, the smaller first; edges ascend by them.
    numbers : ndarray of the graph's indices, shape (edges,)
    max_k : int
        The largest truss number, 0 without edges.
    algorithm : str
    """

    _columns = {"source": ("sources", "vertex"), "target": ("targets", "vertex"), "truss": ("numbers", "value")}


class Path(Result, _Path):
    """A path between two vertices.

    Attributes
    ----------
    vertices : ndarray of the graph's indices
        From the source to the target, both included; empty if no path leads to the target.
    length : int or float
        The sum of the weights; without weights the number of edges; inf if there is no path.
    expanded : int
        Vertices whose edges the search followed; 0 if unknown.
    """

    _columns = {"vertex": ("vertices", "vertex")}


class Biconnectivity(Result, _Biconnectivity):
    """Result of `Graph.biconnectivity`.

    Attributes
    ----------
    bridges : ndarray of the graph's indices, shape (bridges, 2)
        Edges without which the graph has more components, each with its smaller end first.
    articulation_points : ndarray of the graph's indices
        Vertices without which the graph has more components, in the order in which a depth-first search finds them.
    components : list of ndarray
        The vertices of each biconnected component, two or more, in no order; an articulation point is in several.
    """

    def to_arrow(self) -> Table:
        """The bridges as a `Table`."""
        ids, (sources, targets) = self._ids or Ids(None, 0), self.bridges.T
        return Table({"source": ids.of(sources), "target": ids.of(targets)})
