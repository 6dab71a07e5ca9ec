"""Graphs and their construction."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core, _device
from ._arrays import WEIGHTS, Array, csr_indices, dense, flat, indices_of, is_graph, numbered, same_indices, weights_of, whole
from ._config import threads
from ._errors import Error, UnsupportedError
from ._frames import is_table
from ._io import Source, columns_text, readable, warn_of_input
from ._scipy import as_sparse, assembled
from ._snapshot import Snapshot, opened
from ._tabular import Tabular


class Graph(Tabular):
    """A graph, from any of the types below; `from_scipy`, `from_edges`, `from_networkx` and `read` have more options, and
    `from_arrow`, `from_pandas` and `from_polars` take data frames.

    Parameters
    ----------
    a : sparse matrix, networkx graph, array of shape (edges, 2), iterable of pairs, str, path, file or Graph
        A sparse matrix is an adjacency matrix. Integers in pairs are vertices; anything else, such as a name, is an id,
        and vertices are numbered in order of first occurrence. A third element is the edge's weight. A square array is
        ambiguous and refused: use `from_edges` or `from_scipy`. A data frame, or another table, is read by `from_arrow`. A str names a file or generated data (``gen:...``).
    directed : bool, optional
        By default as in `a`; matrices and pairs are directed.
    weights : bool, optional
        Use the weights of `a`; for networkx graphs the edge attribute ``weight``.
    device : {'auto', 'cpu', 'cuda', 'cuda:N'}, optional
        As for `from_scipy`.

    Attributes
    ----------
    offsets : ndarray of int32 or int64, shape (vertices + 1,)
    indices : ndarray of int32 or int64, shape (entries,)
    weights : ndarray of int32, int64, float32 or float64, shape (entries,), or None
    directed : bool
    device : str
        ``"cpu"``, or ``"cuda:0"`` and so on.
    nodes : sequence or None
        The ids of the vertices, by vertex; None if they have none.

    Notes
    -----
    Vertices are numbered 0 to n - 1. Results are arrays indexed by vertex, and an integer argument
    is a vertex. Vertices that have other labels in the source (integers or names in a file, nodes of networkx) keep them
    as ids: ``ids[v]`` or ``nodes[v]`` is the id of vertex v, ``index(id)`` the vertex of an id, and ``names(vertices)`` the ids of
    several. An id that is not an integer can be used instead of a vertex: ``g.bfs("alice")``; an integer id needs
    `index`, as in ``g.bfs(g.index(1000))``. `spargo.read_edgelist` and networkx's functions use ids.

    The out-edges are the arrays of a CSR matrix: the neighbours of v are ``indices[offsets[v]:offsets[v + 1]]``; an
    undirected edge is stored at both ends. The arrays must not be changed. In-edges, if an algorithm needs them, and plans
    are made once and kept. Self-loops count, as in networkx, for PageRank, eigenvector and Katz centrality, HITS
    and communities by modularity, and are ignored elsewhere. Calls release the interpreter's lock while they compute, and
    several threads may use one graph.

    A graph on a GPU (``device="cuda"``) is computed on there; `bfs_order` and other methods of paths and structure that
    exist for the CPU alone raise `UnsupportedError`.
    Copies of its arrays on the host, or of host arrays on the GPU, are made when needed and kept. Results are CuPy or
    PyTorch arrays if the graph was made from such arrays, otherwise NumPy arrays; ``config(arrays=...)`` overrides this.

    Examples
    --------
    >>> import spargo
    >>> g = spargo.Graph.from_edges([0, 1, 1], [1, 2, 3], directed=False)
    >>> g
    <spargo.Graph: 4 vertices, 3 undirected edges, on the CPU>
    >>> g.bfs(0).levels
    array([0, 1, 2, 2], dtype=int32)
    >>> g = spargo.Graph([("alice", "bob"), ("bob", "carol")])
    >>> g.bfs("alice").levels.tolist(), g.index("carol")
    ([0, 1, 2], 2)
    """

    __slots__ = ()
    __networkx_backend__ = "spargo"  # networkx's functions take it

    # --- Construction -------------------------------------------------------------------------------------------------

    def __init__(self, a: Any, *, directed: bool | None = None, weights: bool = True, device: str = "auto") -> None:
        from ._matrix import Matrix

        where: dict[str, Any] = {"device": device}
        if is_graph(a):
            made = a if isinstance(a, Graph) else Graph.from_networkx(a, weight=_weight_attribute(a) if weights else None)
            made = made._as(made.directed if directed is None else directed, weights)._placed(device)
        elif isinstance(a, (str, os.PathLike)) or hasattr(a, "read"):
            made = Graph.read(a, directed=directed, weights=weights, **where)
        elif is_table(a):
            made = Graph._of_table("Graph", a, None, None, None, weights, directed, None, "min", device)
        elif isinstance(a, Matrix) or hasattr(a, "tocsr") or _device.unpacked(a) is not None:
            made = Graph.from_scipy(a, directed=directed is not False, weights=weights, **where)
        else:
            made = Graph._from_pairs(a, directed is not False, weights, device)
        self._become(made)

    @classmethod
    def _from_pairs(cls, a: Any, directed: bool, weights: bool, device: str) -> Graph:
        if hasattr(a, "shape"):
            if len(a.shape) != 2 or a.shape[1] not in (2, 3):
                raise Error(
                    f"Graph: an array of shape {tuple(a.shape)} (expected (edges, 2) or (edges, 3); Graph.from_scipy takes "
                    "adjacency matrices)"
                )
            a = a if _device.kind_of(a) is not None else dense(a, "Graph")
            if a.shape[0] == a.shape[1] and not (isinstance(a, np.ndarray) and _has_names(a)):
                raise Error(
                    f"Graph: an array of {a.shape[0]} x {a.shape[1]} may list edges or be an adjacency matrix "
                    "(expected Graph.from_edges(sources, targets, weights), Graph.from_scipy(a) or a list of tuples)"
                )
            if not isinstance(a, np.ndarray) or a.dtype.kind in "iuf":
                first, second = a[:, 0], a[:, 1]
                if isinstance(a, np.ndarray) and a.dtype.kind == "f" and _are_whole(a[:, :2]):
                    first, second = first.astype(np.int64), second.astype(np.int64)
                third = a[:, 2] if weights and a.shape[1] == 3 else None
                return cls.from_edges(first, second, third, directed=directed, device=device)
            a = a.tolist()
        if isinstance(a, Mapping) and any(value is not None for value in a.values()):
            raise TypeError("Graph: pairs are expected, and this is a mapping (networkx.Graph(a) takes neighbours by node)")
        if isinstance(a, tuple) and any(isinstance(column, np.ndarray) for column in a):
            raise TypeError(
                "Graph: pairs are expected, and this is a tuple of arrays (Graph.from_edges(sources, targets, weights) takes "
                "those, and Graph.read an edge list with its ids)"
            )
        try:
            edges = [() if isinstance(edge, (str, bytes)) else tuple(edge) for edge in a]
        except TypeError:
            raise TypeError(f"Graph: a sparse matrix, a graph, pairs or a path is expected, and this is {a!r}") from None
        size = len(edges[0]) if edges else 2
        odd = next((edge for edge in edges if len(edge) != size or size not in (2, 3)), None)
        if odd is not None:
            raise Error(f"Graph: pairs are expected, all of them with a weight or none, and edge {edges.index(odd)} is {odd}")
        columns = list(zip(*edges)) or [(), ()]
        values = weights_of(np.array(columns[2])) if weights and size == 3 else None
        if all(isinstance(v, (int, np.integer)) for column in columns[:2] for v in column):
            return cls.from_edges(np.array(columns[0]), np.array(columns[1]), values, directed=directed, device=device)
        index: dict[Hashable, int] = {}
        ends = np.array([index.setdefault(v, len(index)) for edge in edges for v in edge[:2]], np.int64)
        first, second = ends[0::2].copy(), ends[1::2].copy()
        return cls._built(len(index), first, second, values, directed, "min", list(index), _device.place_for(device))

    def _as(self, directed: bool, weights: bool = True) -> Graph:
        """The same edges as a directed or undirected graph, with or without weights; itself if nothing changes."""
        if directed == self.directed and (weights or self.weights is None):
            return self
        offsets, indices, values = self._here()
        values = values if weights else None
        if directed or not self.directed:
            return Graph._of(offsets, indices, values, directed, self.nodes, self._multigraph)
        return Graph._built(self.vertices, self._sources(), indices, values, False, "min", self.nodes)

    def _placed(self, device: str) -> Graph:
        """The graph on the wanted device; itself if it is there already."""
        place = self._place if device == "auto" else _device.place_for(device)
        if place is self._place:
            return self
        return Graph._of(*self._here(), self.directed, self.nodes, self._multigraph)._moved(place)

    @classmethod
    def from_scipy(cls, a: Any, *, directed: bool = True, weights: bool = True, device: str = "auto") -> Graph:
        """The graph with the adjacency matrix `a`: an edge for every stored entry, zeros included.

        Parameters
        ----------
        a : sparse array or matrix, `Matrix`, or array_like, shape (n, n)
            The arrays of a CSR matrix are shared. A dense matrix has an edge for every nonzero element.
        directed : bool, optional
            False: each entry is an undirected edge. A CSR matrix with ascending columns and symmetric pattern and weights
            is then shared; otherwise an edge with several weights keeps the smallest.
        weights : bool, optional
            Use the entries as weights (int32, int64, float32 or float64; smaller integers become int64). False, or a
            matrix of booleans: no weights.
        device : {'auto', 'cpu', 'cuda', 'cuda:N'}, optional
            Where the graph lives. 'auto': as set by `config`, else the GPU that holds `a`, else the CPU. A directed graph
            shares the arrays of a CSR matrix of CuPy or PyTorch.

        Raises
        ------
        Error
            For a matrix that is not square or malformed.
        DeviceError
            For a GPU that does not exist.
        NotImplementedError
            For complex weights.
        """
        from ._matrix import Matrix

        if is_graph(a):
            raise TypeError("Graph.from_scipy: a matrix is expected, and this is a graph, which Graph(a) takes")
        place = _device.place_for(device, a)
        kind = None
        if _device.ordinal_of(a) >= 0:
            made = cls._from_device(a, directed, weights, place)
            if made is not None:
                return made
            parts = _device.unpacked(a)
            if parts is not None:
                kind = _device.kind_of(parts[2])
                data, first, second = map(_device.downloaded, parts[2:])
                a = assembled(parts[0], parts[1], first, second, data)
        if isinstance(a, Matrix):
            a = a.to_scipy()
        a = (a if hasattr(a, "tocsr") else as_sparse(a, "Graph.from_scipy")).tocsr()
        if len(a.shape) != 2 or a.shape[0] != a.shape[1]:
            raise Error(f"Graph.from_scipy: a square matrix is expected, and this is {a.shape}")
        offsets, indices = csr_indices(indices_of(a.indptr, "Graph"), indices_of(a.indices, "Graph"))
        n = int(a.shape[0])
        _core.validate_csr(n, n, offsets, indices, threads())
        values = weights_of(a.data) if weights and a.dtype != bool else None
        if values is not None and values.size != indices.size:
            raise Error(f"Graph.from_scipy: {values.size} entries and {indices.size} indices")
        if not directed and not _is_symmetric(n, offsets, indices, values):
            sources = np.repeat(np.arange(n, dtype=indices.dtype), np.diff(offsets))
            return cls._built(n, sources, indices, values, False, "min", place=place, kind=kind)
        made = cls._of(offsets, indices, values, directed)._moved(place)
        made._kind = kind
        return made

    @classmethod
    def _from_device(cls, a: Any, directed: bool, weights: bool, place: Any) -> Graph | None:
        """The graph of a sparse matrix on this GPU; None if the host must build it."""
        from ._matrix import Matrix

        if place is None or _device.ordinal_of(a) != place.ordinal or (weights and not directed):
            return None
        parts = _device.unpacked(a)
        kind = None if parts is None else _device.kind_of(parts[2])
        offsets, indices, values = (a._first, a._second, a._values) if parts is None else (parts[3], parts[4], parts[2])
        form, (n, cols) = (a.format, a.shape) if parts is None else parts[:2]
        if n != cols:
            raise Error(f"Graph.from_scipy: a square matrix is expected, and this is {(n, cols)}")
        if form != "csr":
            offsets, indices, values = Matrix(a)._csr_arrays()
        elif parts is not None:
            offsets, indices = _device.index_vectors(offsets, indices, place, "Graph", False)
            _core.validate_csr(n, n, offsets, indices, threads())
        if directed:
            kept = _device.weights_vector(values, place) if weights else None
            return cls._of_device(offsets, indices, kept, True, kind)
        sources = _core.csr_rows(n, offsets, indices)
        return cls._built_there(n, sources, indices, False, kind)

    @classmethod
    def from_edges(
        cls,
        sources: npt.ArrayLike,
        targets: npt.ArrayLike,
        weights: npt.ArrayLike | None = None,
        *,
        vertices: int | None = None,
        directed: bool = True,
        duplicates: str = "min",
        device: str = "auto",
    ) -> Graph:
        """The graph with these edges, in any order. Duplicates become one edge.

        Parameters
        ----------
        sources, targets : array_like of int or of str, shape (edges,)
            Strings are ids; vertices are numbered in order of first occurrence.
        weights : array_like of int32, int64, float32 or float64, shape (edges,), optional
        vertices : int, optional
            Number of vertices; by default the largest number plus one.
        directed : bool, optional
        duplicates : {'min', 'max', 'sum', 'first'}, optional
            The weight of an edge that is listed several times.
        device : {'auto', 'cpu', 'cuda', 'cuda:N'}, optional
            As for `from_scipy`. A graph without weights is built on the GPU.

        Raises
        ------
        Error
            For a vertex out of range, or arrays of different sizes.
        DeviceError
            For a GPU that does not exist.
        """
        place = _device.place_for(device, sources, targets)
        nodes = None
        if _device.kind_of(sources) is None and _device.kind_of(targets) is None:
            sources, targets, nodes = numbered(sources, targets)
            if nodes is not None and vertices is None:
                vertices = nodes.size
        kind = _device.kind_of(sources)
        if kind is not None and place is not None and weights is None:
            there = _device.index_vectors(sources, targets, place, "Graph.from_edges", True)
            if there[0].size != there[1].size:
                raise Error(f"Graph.from_edges: {there[0].size} sources and {there[1].size} targets")
            if vertices is None:
                pair = (_device.taken(kind, e) if _device.kind_of(e) else np.asarray(e) for e in (sources, targets))
                vertices = max((int(e.max()) + 1 for e in pair if e.shape[0] > 0), default=0)
            return cls._built_there(vertices, *there, directed, kind)
        first: Any
        second: Any
        first, second, weights = (
            _device.downloaded(v) if _device.kind_of(v) is not None else v for v in (sources, targets, weights)
        )
        ends = same_indices(indices_of(first, "Graph.from_edges"), indices_of(second, "Graph.from_edges"))
        vertices = None if vertices is None else whole(vertices, "Graph.from_edges: vertices", 0)
        if vertices is None:
            vertices = max((int(e.max()) + 1 for e in ends if e.size > 0), default=0)
        values = None if weights is None else weights_of(flat(weights, "Graph.from_edges"))
        if values is not None and values.size != ends[0].size:
            raise Error(f"Graph.from_edges: {ends[0].size} edges and {values.size} weights")
        if ends[0].size != ends[1].size:
            raise Error(f"Graph.from_edges: {ends[0].size} sources and {ends[1].size} targets")
        if nodes is not None and nodes.size != vertices:
            raise Error(f"Graph.from_edges: {nodes.size} names of {vertices} vertices")
        return cls._built(vertices, ends[0], ends[1], values, directed, duplicates, nodes, place=place, kind=kind)

    @classmethod
    def _built(
        cls,
        n: int,
        sources: Array,
        targets: Array,
        weights: Array | None,
        directed: bool,
        duplicates: str,
        nodes: Sequence[Hashable] | Array | None = None,
        place: Any = None,
        kind: _device.Kind | None = None,
    ) -> Graph:
        if weights is None and place is not None:
            there = place.upload(sources), place.upload(targets)
            made = cls._built_there(n, *there, directed, kind)
            made.nodes = nodes
            return made
        if weights is None:
            offsets, indices, loops = _core.build_graph(n, sources, targets, directed, threads())
            made = cls._of(offsets, indices, None, directed, nodes)
            made._loops = loops
            return made
        offsets, indices, kept = _core.build_weighted_graph(
            n, sources, targets, weights, directed, duplicates, True, threads()
        )
        made = cls._of(offsets, indices, kept, directed, nodes)._moved(place)
        made._kind = kind
        return made

    @classmethod
    def _built_there(cls, n: int, sources: Any, targets: Any, directed: bool, kind: _device.Kind | None) -> Graph:
        offsets, indices, loops = _core.build_graph(n, sources, targets, directed, threads())
        made = cls._of_device(offsets, indices, None, directed, kind)
        made._loops = loops
        return made

    @classmethod
    def from_networkx(cls, g: Any, *, weight: str | None = None, device: str = "auto") -> Graph:
        """A networkx graph; ``nodes`` and neighbours keep its order.

        Parameters
        ----------
        g : networkx graph
            Parallel edges of a multigraph are kept: `pagerank`, `communities` and `degrees` count all of them, all else
            counts one.
        weight : str, optional
            Edge attribute to use as weight; 1 if missing.
        device : {'auto', 'cpu', 'cuda', 'cuda:N'}, optional
            'auto': as set by `config`, else the CPU.
        """
        if not hasattr(g, "_adj"):
            raise TypeError(f"Graph.from_networkx: a graph of networkx's is expected, and this is a {type(g).__name__}")
        place = _device.place_for(device)
        nodes = list(g)
        index = {node: i for i, node in enumerate(nodes)}
        rows = [g._adj[node] for node in nodes]
        if g.is_multigraph():
            counts = [sum(map(len, row.values())) for row in rows]
            ends: Iterable[Any] = (neighbour for row in rows for neighbour, keyed in row.items() for _ in keyed)
            data = (edge for row in rows for keyed in row.values() for edge in keyed.values())
        else:
            counts = list(map(len, rows))
            ends = chain.from_iterable(rows)
            data = (edge for row in rows for edge in row.values())
        entries = sum(counts)
        kind = np.int32 if max(len(nodes), entries) < 2**31 else np.int64
        offsets = np.zeros(len(nodes) + 1, dtype=kind)
        np.cumsum(counts, out=offsets[1:])
        indices = np.fromiter(map(index.__getitem__, ends), dtype=kind, count=entries)
        weights = None
        if weight is not None:
            values = [edge.get(weight, 1) for edge in data]
            weights = weights_of(np.array(values or np.empty(0)))
            if weights.dtype.kind == "f" and any(isinstance(w, int) and int(float(w)) != w for w in values):
                raise UnsupportedError("integers beside reals, which float64 rounds", "unsupported")
        return cls._of(offsets, indices, weights, g.is_directed(), nodes, g.is_multigraph())._moved(place)

    @classmethod
    def read(
        cls,
        source: Source,
        *,
        directed: bool | None = None,
        weights: bool = True,
        device: str = "auto",
        columns: str | Sequence[str | int] | None = None,
        ids: str = "auto",
    ) -> Graph:
        """Read a graph from a file: Matrix Market, edge lists, METIS, DIMACS, GML, GraphML, snapshots; or ``gen:...``.

        Parameters
        ----------
        source : str, path or file
            Plain, gzip or (by a name ending in ``.bz2``) bzip2; or an open file.
        directed : bool, optional
            By default as in the file: edge lists that do not state a direction, general matrices and DIMACS arcs are
            directed; generated graphs are undirected if their pattern is symmetric. True for an undirected graph gives
            each edge both directions, like networkx's ``to_directed``.
        weights : bool, optional
            Use the file's weights.
        device : {'auto', 'cpu', 'cuda', 'cuda:N'}, optional
            Where the graph lives. 'auto': as set by `config`, else the CPU. The CPU reads the file.
        columns : str or sequence, optional
            For an edge list: the columns of source, target and, optionally, weight, each by its name or its number from
            1. By default the header line decides, or the first three. ``"bip:user_id,item_id"``: equal ids in the two
            columns are different vertices; those on the right follow those on the left.
        ids : {'auto', 'integers', 'names'}, optional
            Kind of ids of an edge list. 'auto': names if most of the first lines have an id that is not a number; in a
            file of integers a later name is an error.

        Returns
        -------
        Graph
            Without duplicates, of which the smallest weight is kept; a graph written by `save` is unchanged. ``nodes``
            has the ids of an edge list: int64 in ascending order, or names (str) in order of first occurrence.

        Raises
        ------
        Error
            With ``.file``, ``.line`` and ``.column``, for a malformed file.

        Warns
        -----
        InputWarning
            For integer weights that float64 rounds, columns of numbers that are not used as weights, a first line that
            may name the columns, and columns that may number different things.
        """
        place = _device.place_for(device)
        if isinstance(source, str) and _core.is_generator_spec(source):
            rows, cols, first, second, _ = _core.generate(source, "float32", threads())
            n, values, names = max(rows, cols), None, None
            if directed is None:
                directed = not _core.is_symmetric_generator(source)
            return cls._built(n, first, second, None, directed, "min", place=place)
        with readable(source) as path:
            if _core.is_snapshot(path):
                return cls._of_snapshot(opened(path), directed, weights, place, path)
            n, first, second, values, names, as_read, rounded, doubts = _core.read_graph(
                path, columns_text(columns), ids, threads()
            )
        warn_of_input(source, rounded, doubts, weights)
        directed = as_read if directed is None else directed
        if directed and not as_read:  # an edge is listed once, and leads both ways
            both = np.concatenate((first, second)), np.concatenate((second, first))
            first, second = both
            values = None if values is None else np.concatenate((values, values))
        return cls._built(n, first, second, values if weights else None, directed, "min", names, place)

    @classmethod
    def _of_snapshot(
        cls, found: Snapshot, directed: bool | None = None, weights: bool = True, place: Any = None, name: str = ""
    ) -> Graph:
        n, cols = found.shape
        if n != cols:
            raise Error(f"{name}: {n} x {cols} is not a graph (expected a square matrix)", "invalid_data", name)
        values = weights_of(found.weights) if weights and found.weights is not None else None
        directed = found.directed if directed is None else directed
        both_ways = not (found.directed and directed) and not found.is_mirrored
        if both_ways and not _is_symmetric(n, found.offsets, found.indices, values):
            sources = np.repeat(np.arange(n, dtype=found.indices.dtype), np.diff(found.offsets))
            made = cls._built(n, sources, found.indices, values, False, "min", found.ids, None if directed else place)
            return made._as(True)._moved(place) if directed else made
        return cls._of(found.offsets, found.indices, values, directed, found.ids, found.multigraph)._moved(place)


def _weight_attribute(g: Any) -> str | None:
    return "weight" if any("weight" in data for *_, data in g.edges(data=True)) else None


def _has_names(a: Array) -> bool:
    return a.dtype.kind in "UST" or any(isinstance(end, (str, bytes)) for end in a.flat)


def _are_whole(numbers: Array) -> bool:
    return bool(np.all(np.abs(numbers) < 2.0**53) and np.all(numbers == np.trunc(numbers)))


def _is_symmetric(n: int, offsets: Array, indices: Array, weights: Array | None) -> bool:
    """Whether a CSR matrix with ascending columns equals its transpose and so stores an undirected graph."""
    if weights is None:
        turned_offsets, turned = _core.pattern_transpose(n, n, offsets, indices, threads())
    else:  # weights move as bits, whatever they are
        bits = weights.view(f"f{weights.itemsize}")
        turned_offsets, turned, moved = _core.csr_transpose(n, n, offsets, indices, bits, threads())
        if not np.array_equal(moved.view(f"i{weights.itemsize}"), weights.view(f"i{weights.itemsize}")):
            return False
    return np.array_equal(turned_offsets, offsets) and np.array_equal(turned, indices)
