"""Graphs, and what is computed of them."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core, _device
from ._arrays import WEIGHTS, Array, csr_indices, flat, indices_of, same_indices
from ._config import threads
from ._errors import Error, UnsupportedError
from ._io import Source, readable


class Bfs(NamedTuple):
    """What `Graph.bfs` returns.

    Attributes
    ----------
    levels : ndarray of int32, shape (vertices,)
        Edges from the source; -1 where it does not reach, or past a target or depth.
    parents : ndarray of the graph's indices, shape (vertices,), or None
        A neighbour one level nearer; -1 where not reached. The source is its own parent.
    source : int
    reached : int
        Vertices, the source included.
    level_sizes : ndarray of int64, shape (depth + 1,)
    algorithm, reason : str
    """

    levels: Array
    parents: Array | None
    source: int
    reached: int
    level_sizes: Array
    algorithm: str
    reason: str


class MultiBfs(NamedTuple):
    """What `Graph.multi_bfs` returns, one of each for every source.

    Attributes
    ----------
    levels : ndarray of int32, shape (sources, vertices), or None
        Edges from the source; -1 where it does not reach. A vertex's levels lie together: the array is in Fortran order.
    reached : ndarray of int64, shape (sources,)
    distance_sums : ndarray of int64, shape (sources,)
    eccentricities : ndarray of int32, shape (sources,)
    """

    levels: Array | None
    reached: Array
    distance_sums: Array
    eccentricities: Array


class Sssp(NamedTuple):
    """What `Graph.sssp` returns.

    Attributes
    ----------
    distances : ndarray, shape (vertices,)
        int64 for integer weights, where 2^63 - 1 says that the source does not reach; else float64, and inf.
    parents : ndarray of the graph's indices, shape (vertices,), or None
        -1 where not reached. The source is its own parent.
    source : int
    reached : int
        Vertices, the source included.
    algorithm, reason : str
    """

    distances: Array
    parents: Array | None
    source: int
    reached: int
    algorithm: str
    reason: str


class PageRank(NamedTuple):
    """What `Graph.pagerank` returns.

    Attributes
    ----------
    ranks : ndarray of float32 or float64, shape (vertices,)
    iterations : int
    residual : float
        What the last step changed.
    converged : bool
    algorithm : str
    """

    ranks: Array
    iterations: int
    residual: float
    converged: bool
    algorithm: str


class Triangles(NamedTuple):
    """What `Graph.triangles` returns.

    Attributes
    ----------
    total : int
    per_vertex : ndarray of int64, shape (vertices,)
        Triangles that each vertex is in.
    degrees : ndarray of the graph's indices, shape (vertices,)
        Neighbours, in or out, each once and the vertex itself never.
    """

    total: int
    per_vertex: Array
    degrees: Array


class Graph:
    """A graph with the vertices 0 to n - 1; made by `from_scipy`, `from_edges`, `from_networkx` or `read`.

    The out-edges are the arrays of a CSR matrix: the neighbours of v are ``indices[offsets[v]:offsets[v + 1]]``, for an
    undirected graph from both ends. They must not be changed. In-edges, where an algorithm needs them, and plans are
    made once and kept. No call holds the interpreter's lock while it computes, and several threads may call at a time.

    A graph on a GPU (``device="cuda"``) searches, ranks and labels there: `bfs`, `multi_bfs`, `pagerank`,
    `connected_components` and `communities`; other methods raise `UnsupportedError`. It keeps what it was made of and
    copies the other side's arrays when something asks for them. What it returns are arrays of CuPy or PyTorch where it
    was made of theirs, else NumPy's; ``config(arrays=...)`` says otherwise.

    Attributes
    ----------
    offsets : ndarray of int32 or int64, shape (vertices + 1,)
    indices : ndarray of int32 or int64, shape (entries,)
    weights : ndarray of int32, int64, float32 or float64, shape (entries,), or None
    directed : bool
    device : str
        ``"cpu"``, or ``"cuda:0"`` and so on.
    nodes : sequence or None
        What the vertices are called where they came from: ids of a file, nodes of networkx.

    Examples
    --------
    >>> import spargo
    >>> g = spargo.Graph.from_edges([0, 1, 1], [1, 2, 3], directed=False)
    >>> g
    <spargo.Graph: 4 vertices, 3 undirected edges, on the CPU>
    >>> g.bfs(0).levels
    array([0, 1, 2, 2], dtype=int32)
    """

    __slots__ = (
        "__networkx_cache__",
        "__weakref__",
        "_bound",
        "_host",
        "_in",
        "_index",
        "_kind",
        "_multigraph",
        "_place",
        "_plans",
        "_there",
        "directed",
        "nodes",
    )
    __networkx_backend__ = "spargo"  # networkx's functions take it

    directed: bool
    nodes: Sequence[Hashable] | Array | None
    _host: tuple[Array, Array, Array | None] | None  # offsets, indices, weights
    _there: tuple[Any, Any, Any] | None  # the same on a GPU; one of both is there
    _place: Any  # the GPU, or None
    _kind: _device.Kind | None  # whose arrays it returns from there; None: NumPy's
    _in: tuple[Any, Any] | None
    _index: dict[Hashable, int] | None
    _multigraph: bool
    _bound: dict[bool, Any]  # the library's view, without and with in-edges
    __networkx_cache__: None
    _plans: dict[str, tuple[tuple[Any, ...], Any]]

    def __init__(self) -> None:
        raise TypeError("a graph is made by Graph.from_scipy, from_edges, from_networkx or read")

    @classmethod
    def _of(
        cls,
        offsets: Array,
        indices: Array,
        weights: Array | None,
        directed: bool,
        nodes: Sequence[Hashable] | Array | None = None,
        multigraph: bool = False,
    ) -> Graph:
        made = cls.__new__(cls)
        made._host, made._there = (offsets, indices, weights), None
        made.directed, made.nodes = directed, nodes
        made._place = made._kind = None
        made._multigraph = multigraph
        made._in = None
        made._index = None
        made._bound = {}
        made._plans = {}
        made.__networkx_cache__ = None
        return made

    @classmethod
    def _of_device(cls, offsets: Any, indices: Any, weights: Any, directed: bool, kind: _device.Kind | None) -> Graph:
        made = cls._of(offsets, indices, weights, directed)
        made._host, made._there = None, (offsets, indices, weights)
        made._place = _device.place_at(indices.ordinal)
        made._kind = kind
        return made

    def _moved(self, place: Any) -> Graph:
        """Itself, on a GPU from here on: its arrays go there with the first call."""
        self._place = place
        return self

    # --- How graphs are made ------------------------------------------------------------------------------------------

    @classmethod
    def from_scipy(cls, a: Any, *, directed: bool = True, weights: bool = True, device: str = "auto") -> Graph:
        """The graph whose adjacency matrix is `a`: an edge for every stored entry, zeros included.

        Parameters
        ----------
        a : sparse array or matrix, `Matrix`, or array_like, shape (n, n)
            The arrays of a CSR matrix are taken without a copy. Of a dense one the entries that are not 0.
        directed : bool, optional
            False: each entry joins its row and column both ways. A matrix whose pattern and weights are symmetric, in
            CSR with ascending columns, is then taken without a copy; of others loops are dropped and the least of
            several weights stays.
        weights : bool, optional
            Take the entries as weights of edges, where they are int32, int64, float32 or float64; smaller integers
            become int64. False, or a matrix of booleans: none.
        device : {'auto', 'cpu', 'cuda', 'cuda:N'}, optional
            Where the graph lives. 'auto' is what `config` says; else the GPU that holds `a`, a sparse matrix of CuPy's
            or PyTorch's, whose arrays in CSR are taken without a copy where the graph is directed; and the CPU for
            everything else.

        Raises
        ------
        Error
            For a matrix that is not square, or breaks the rules of its format.
        DeviceError
            For a GPU that is not there.
        NotImplementedError
            For complex weights.
        """
        from scipy import sparse

        from ._matrix import Matrix, assembled

        place = _device.place_for(device, a)
        if _device.ordinal_of(a) >= 0:
            made = cls._from_device(a, directed, weights, place)
            if made is not None:
                return made
            parts = _device.unpacked(a)
            if parts is not None:
                data, first, second = map(_device.downloaded, parts[2:])
                a = assembled(parts[0], parts[1], first, second, data)
        if isinstance(a, Matrix):
            a = a.to_scipy()
        a = a.tocsr() if hasattr(a, "tocsr") else sparse.csr_array(np.asarray(a))
        if len(a.shape) != 2 or a.shape[0] != a.shape[1]:
            raise Error(f"Graph.from_scipy: a square matrix is expected, and this is {a.shape}")
        offsets, indices = csr_indices(indices_of(a.indptr, "Graph"), indices_of(a.indices, "Graph"))
        n = int(a.shape[0])
        _core.validate_csr(n, n, offsets, indices, threads())
        values = _weights_of(a.data) if weights and a.dtype != bool else None
        if values is not None and values.size != indices.size:
            raise Error(f"Graph.from_scipy: {values.size} entries and {indices.size} indices")
        if not directed and not _is_symmetric(n, offsets, indices, values):
            sources = np.repeat(np.arange(n, dtype=indices.dtype), np.diff(offsets))
            return cls._built(n, sources, indices, values, False, "min", place=place)
        return cls._of(offsets, indices, values, directed)._moved(place)

    @classmethod
    def _from_device(cls, a: Any, directed: bool, weights: bool, place: Any) -> Graph | None:
        """The graph of a sparse matrix on this GPU; None where the host must help."""
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
        built = _core.build_graph(n, sources, indices, False, threads())
        return cls._of_device(*built, None, False, kind)

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
        """The graph of pairs, in any order. Loops are dropped, and of duplicates one edge stays.

        Parameters
        ----------
        sources, targets : array_like of int, shape (edges,)
        weights : array_like of int32, int64, float32 or float64, shape (edges,), optional
        vertices : int, optional
            By default one more than the largest number.
        directed : bool, optional
        duplicates : {'min', 'sum', 'first'}, optional
            What becomes of the weights of an edge that is listed several times.
        device : {'auto', 'cpu', 'cuda', 'cuda:N'}, optional
            As for `from_scipy`. A graph without weights is built on the GPU.

        Raises
        ------
        Error
            For a number that is no vertex, or arrays of different sizes.
        DeviceError
            For a GPU that is not there.
        """
        place = _device.place_for(device, sources, targets)
        kind = _device.kind_of(sources)
        if kind is not None and place is not None and weights is None:
            there = _device.index_vectors(sources, targets, place, "Graph.from_edges", True)
            if there[0].size != there[1].size:
                raise Error(f"Graph.from_edges: {there[0].size} sources and {there[1].size} targets")
            if vertices is None:
                pair = (_device.taken(kind, e) if _device.kind_of(e) else np.asarray(e) for e in (sources, targets))
                vertices = max((int(e.max()) + 1 for e in pair if e.shape[0] > 0), default=0)
            return cls._of_device(*_core.build_graph(vertices, *there, directed, threads()), None, directed, kind)
        first: Any
        second: Any
        first, second, weights = (
            _device.downloaded(v) if _device.kind_of(v) is not None else v for v in (sources, targets, weights)
        )
        ends = same_indices(indices_of(first, "Graph.from_edges"), indices_of(second, "Graph.from_edges"))
        if vertices is None:
            vertices = max((int(e.max()) + 1 for e in ends if e.size > 0), default=0)
        values = None if weights is None else _weights_of(flat(weights, "Graph.from_edges"))
        if values is not None and values.size != ends[0].size:
            raise Error(f"Graph.from_edges: {ends[0].size} edges and {values.size} weights")
        if ends[0].size != ends[1].size:
            raise Error(f"Graph.from_edges: {ends[0].size} sources and {ends[1].size} targets")
        return cls._built(vertices, ends[0], ends[1], values, directed, duplicates, place=place, kind=kind)

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
            made = cls._of_device(*_core.build_graph(n, *there, directed, threads()), None, directed, kind)
            made.nodes = nodes
            return made
        if weights is None:
            return cls._of(*_core.build_graph(n, sources, targets, directed, threads()), None, directed, nodes)
        offsets, indices, kept = _core.build_weighted_graph(
            n, sources, targets, weights, directed, duplicates, False, threads()
        )
        made = cls._of(offsets, indices, kept, directed, nodes)._moved(place)
        made._kind = kind
        return made

    @classmethod
    def from_networkx(cls, g: Any, *, weight: str | None = None, device: str = "auto") -> Graph:
        """The graph of networkx's, whose nodes are ``nodes`` in its order, with neighbours in its order.

        Parameters
        ----------
        g : networkx graph
            Of a multigraph an edge for each of several, which count as one in most algorithms.
        weight : str, optional
            The edges' attribute that is taken as weights; 1 where it is missing.
        device : {'auto', 'cpu', 'cuda', 'cuda:N'}, optional
            'auto' is what `config` says, else the CPU.
        """
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
            weights = _weights_of(np.array([edge.get(weight, 1) for edge in data] or np.empty(0)))
        return cls._of(offsets, indices, weights, g.is_directed(), nodes, g.is_multigraph())._moved(place)

    @classmethod
    def read(cls, source: Source, *, directed: bool | None = None, weights: bool = True, device: str = "auto") -> Graph:
        """Read a graph from a file: Matrix Market, edge lists, METIS, DIMACS, snapshots; or ``gen:...``.

        Parameters
        ----------
        source : str, path or file
            Plain, gzip or (by a name ending in ``.bz2``) bzip2; or an open file.
        directed : bool, optional
            By default as the file has it: edge lists, general matrices and DIMACS' arcs are directed, generated graphs
            undirected where their pattern is symmetric.
        weights : bool, optional
            Take the file's weights.
        device : {'auto', 'cpu', 'cuda', 'cuda:N'}, optional
            'auto' is what `config` says, else the CPU. The file is read there.

        Returns
        -------
        Graph
            Without loops and duplicates, of whose weights the least stays; a snapshot's as they are. ``nodes`` has the
            ids of an edge list.

        Raises
        ------
        Error
            With ``.file``, ``.line`` and ``.column``, for what the format does not allow.
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
                return cls._loaded(path, directed, weights, place)
            n, first, second, values, names, as_read = _core.read_graph(path, threads())
        directed = as_read if directed is None else directed
        if directed and not as_read:  # a triangle stands for both directions
            both = np.concatenate((first, second)), np.concatenate((second, first))
            first, second = both
            values = None if values is None else np.concatenate((values, values))
        return cls._built(n, first, second, values if weights else None, directed, "min", names, place)

    @classmethod
    def _loaded(cls, path: str, directed: bool | None, weights: bool, place: Any) -> Graph:
        rows, cols, offsets, indices, values, names, as_read = _core.load(path, threads())
        if rows != cols:
            raise Error(f"{path}: {rows} x {cols} is no graph", "invalid_data", path)
        values = _weights_of(values) if weights and values is not None else None
        if directed is False and as_read and not _is_symmetric(rows, offsets, indices, values):
            sources = np.repeat(np.arange(rows, dtype=indices.dtype), np.diff(offsets))
            return cls._built(rows, sources, indices, values, False, "min", names, place)
        return cls._of(offsets, indices, values, as_read if directed is None else directed, names)._moved(place)

    # --- What it is ---------------------------------------------------------------------------------------------------

    def _here(self) -> tuple[Array, Array, Array | None]:
        """The arrays on the host; from a GPU copies, which are kept."""
        if self._host is None:
            assert self._there is not None
            offsets, indices, weights = self._there
            values = None if weights is None else _device.downloaded(weights)
            self._host = (_device.downloaded(offsets), _device.downloaded(indices), values)
        return self._host

    def _arrays(self) -> tuple[Any, Any]:
        """Offsets and indices where the graph lives; on a GPU copies of the host's, which are kept."""
        if self._place is None:
            return self._here()[:2]
        if self._there is None:
            offsets, indices, _ = self._here()
            self._there = (self._place.upload(offsets), self._place.upload(indices), None)
        return self._there[:2]

    @property
    def offsets(self) -> Array:
        return self._here()[0]

    @property
    def indices(self) -> Array:
        return self._here()[1]

    @property
    def weights(self) -> Array | None:
        return self._here()[2] if self._host is not None or (self._there and self._there[2] is not None) else None

    @property
    def device(self) -> str:
        return _device.name_of(self._place)

    @property
    def vertices(self) -> int:
        """How many there are."""
        return int((self._host or self._arrays())[0].size - 1)

    @property
    def edges(self) -> int:
        """How many there are: stored ones of a directed graph, else pairs, each loop one."""
        entries = int((self._host or self._arrays())[1].size)
        if self.directed:
            return entries
        if self._host is None:  # built on the GPU, without loops
            return entries // 2
        loops = int(np.count_nonzero(self.indices == np.repeat(np.arange(self.vertices), np.diff(self.offsets))))
        return (int(self.indices.size) + loops) // 2

    @property
    def degrees(self) -> Array:
        """ndarray, shape (vertices,): how many out-edges each vertex has."""
        return np.diff(self.offsets)

    def neighbours(self, vertex: int) -> Array:
        """The ends of a vertex's out-edges, a view of ``indices``."""
        vertex = self._vertex(vertex)
        return self.indices[self.offsets[vertex] : self.offsets[vertex + 1]]

    def to_scipy(self) -> Any:
        """The adjacency matrix as ``csr_array``, over the same arrays; ones (of float64) where there are no weights."""
        from ._matrix import assembled

        values = np.ones(self.indices.size) if self.weights is None else self.weights
        return assembled("csr", (self.vertices, self.vertices), self.offsets, self.indices, values)

    def __len__(self) -> int:
        return self.vertices

    def is_directed(self) -> bool:
        """As networkx asks it."""
        return self.directed

    def is_multigraph(self) -> bool:
        """As networkx asks it: whether it was made of a multigraph, whose edges are all there."""
        return self._multigraph

    def index(self, node: Hashable) -> int:
        """The number of the vertex that ``nodes`` calls so; KeyError for another."""
        if self.nodes is None:
            if isinstance(node, (int, np.integer)) and 0 <= node < self.vertices:
                return int(node)
            raise KeyError(node)
        if self._index is None:
            names = self.nodes.tolist() if isinstance(self.nodes, np.ndarray) else self.nodes
            self._index = {name: i for i, name in enumerate(names)}
        return self._index[node]

    def names(self, vertices: Array) -> list[Any]:
        """What ``nodes`` calls vertices; themselves where it calls them nothing."""
        if self.nodes is None:
            return list(vertices.tolist())
        if isinstance(self.nodes, np.ndarray):
            return list(self.nodes[vertices].tolist())
        return list(map(self.nodes.__getitem__, vertices.tolist()))

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (*self._here(), self.directed, self.nodes, self._multigraph)
        return (Graph._of, parts) if self._place is None else (Graph._restored, (self.device, *parts))

    @classmethod
    def _restored(cls, device: str, *parts: Any) -> Graph:
        return cls._of(*parts)._moved(_device.place_for(device))

    def __repr__(self) -> str:
        weights = (self._host or self._there or (None, None, None))[2]
        weighted = "" if weights is None else f" with weights of {weights.dtype}"
        return (
            f"<spargo.Graph: {self.vertices:,} vertices, {self.edges:,} {'' if self.directed else 'un'}directed edges"
            f"{weighted}, on {'the CPU' if self._place is None else self.device}>"
        )

    def _repr_html_(self) -> str:
        from ._matrix import Matrix, _spy

        picture = Matrix._of("csr", (self.vertices, self.vertices), self.offsets, self.indices, self.indices)
        return f"<p><code>{repr(self)[1:-1]}</code></p>{_spy(picture)}"

    # --- What is computed of it ---------------------------------------------------------------------------------------

    def _vertex(self, vertex: Any) -> int:
        number = int(vertex)
        if number != vertex or not 0 <= number < self.vertices:
            raise Error(f"vertex {vertex} of a graph of {self.vertices}")
        return number

    def _view(self, in_edges: bool) -> Any:
        """The library's view; in-edges, of a directed graph, are made once."""
        in_edges = in_edges and self.directed
        view = self._bound.get(in_edges)
        if view is None:
            ins: tuple[Any, Any] = (None, None)
            if in_edges:
                if self._in is None:
                    n = self.vertices
                    self._in = _core.pattern_transpose(n, n, *self._arrays(), threads())
                ins = self._in
            view = _core.graph(*self._arrays(), *ins, not self.directed)
            self._bound[in_edges] = view
        return view

    def _algorithm(self, name: str, in_edges: bool) -> Any:
        """The library's function, which a device may lack: bind_on in graph.cpp lists what there is."""
        found = getattr(self._view(in_edges), name, None)
        if found is None:
            raise UnsupportedError(f"Graph.{name}: not there for a GPU; device='cpu' has it", "unsupported")
        return found

    def _called(self, name: str, in_edges: bool, *arguments: Any) -> Any:
        return self._results(self._algorithm(name, in_edges)(*arguments))

    def _results(self, found: Any) -> Any:
        """What a function returned, with arrays for the caller: from a GPU copies, made before a plan's next run."""
        if self._place is None:
            return found
        if isinstance(found, tuple):
            return tuple(map(self._results, found))
        return _device.delivered(found, self._kind) if _device.is_vector(found) else found

    def _argument(self, a: Any, dtype: np.dtype[Any] | None = None) -> Any:
        """An array for a function of the graph: where the graph lives, uploaded unless it is there."""
        if self._place is not None:
            return _device.vector(a, self._place, "Graph", dtype)
        a = _device.downloaded(a) if _device.kind_of(a) is not None else a
        return np.ascontiguousarray(a, dtype)

    def _planned(self, key: tuple[Any, ...], make: Any, *arguments: Any) -> Any:
        """The result of a plan, of which the last one of each kind is kept; it serves one thread at a time."""
        kind = key[0]
        kept = self._plans.pop(kind, None)
        plan = kept[1] if kept is not None and kept[0] == key else make()
        result = self._results(plan.run(*arguments))
        self._plans[kind] = (key, plan)
        return result

    def bfs(
        self,
        source: int,
        *,
        target: int | None = None,
        max_depth: int | None = None,
        parents: str | None = "any",
        in_edges: bool | None = None,
        algorithm: str = "automatic",
    ) -> Bfs:
        """Breadth-first search.

        Parameters
        ----------
        source : int
        target : int, optional
            The search ends with the level that holds it.
        max_depth : int, optional
            Vertices farther away stay unreached.
        parents : {'any', 'smallest'} or None, optional
            Which of several neighbours one level nearer: whichever was first, which differs between runs, or the one of
            the smallest number. None: no parents.
        in_edges : bool, optional
            Whether a search of a directed graph may look along in-edges, which it then makes: O(edges) once, and faster
            afterwards. By default from the second search on.
        algorithm : {'automatic', 'sequential', 'load_balanced', 'direction_optimizing'}, optional

        Returns
        -------
        Bfs

        Raises
        ------
        Error
            For what is no vertex.

        Notes
        -----
        O(vertices + edges). Levels are the same on every run.
        """
        source = self._vertex(source)
        stop = -1 if target is None else self._vertex(target)
        depth = -1 if max_depth is None else int(max_depth)
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

    def bfs_order(self, source: int) -> tuple[Array, Array]:
        """The vertices in the order of a queue, as SciPy and networkx visit them.

        Parameters
        ----------
        source : int

        Returns
        -------
        order : ndarray, shape (reached,)
            Neighbours come in the order in which they are stored.
        predecessors : ndarray, shape (vertices,)
            Through whom each was found; -1 for the source and what it does not reach.

        Notes
        -----
        One thread; O(vertices + edges). Where the order does not matter, `bfs` is faster.
        """
        order, predecessors = self._called("bfs_order", False, self._vertex(source))
        return order, predecessors

    def multi_bfs(self, sources: npt.ArrayLike, *, levels: bool = True) -> MultiBfs:
        """Breadth-first searches from many sources, of which 64 or 256 share each look at an edge.

        Parameters
        ----------
        sources : array_like of int, shape (k,)
            May repeat.
        levels : bool, optional
            False: only how many are reached and how far away they are, without memory for 4 k vertices bytes.

        Returns
        -------
        MultiBfs

        Raises
        ------
        Error
            For what is no vertex.
        """
        chosen = self._sources(sources)
        if chosen.size == 0:
            empty = np.empty(0, dtype=np.int64)
            none = np.empty((0, self.vertices), dtype=np.int32) if levels else None
            return MultiBfs(none, empty, empty, empty.astype(np.int32))
        found, reached, sums, eccentricities = self._called("multi_bfs", True, chosen, levels, threads())
        by_source = found.reshape(self.vertices, chosen.size).T if levels else None
        return MultiBfs(by_source, reached, sums, eccentricities)

    def _sources(self, sources: npt.ArrayLike | None) -> Array:
        if _device.kind_of(sources) is not None:
            sources = _device.downloaded(sources)
        chosen = indices_of(np.empty(0, np.int32) if sources is None else sources, "sources")
        if chosen.size > 0 and not (0 <= chosen.min() and chosen.max() < self.vertices):
            raise Error(f"sources: {chosen.min()} to {chosen.max()} of a graph of {self.vertices} vertices")
        return np.ascontiguousarray(chosen, dtype=self._index_type())

    def _index_type(self) -> np.dtype[Any]:
        kind: np.dtype[Any] = (self._host or self._arrays())[1].dtype
        return kind

    def sssp(
        self,
        source: int,
        *,
        target: int | None = None,
        cutoff: float | None = None,
        parents: str | None = "any",
        delta: float = 0.0,
        algorithm: str = "automatic",
    ) -> Sssp:
        """Shortest paths from one vertex over weights of 0 or more; over 1 for each edge where there are no weights.

        Parameters
        ----------
        source : int
        target : int, optional
            Vertices farther than it stay unreached.
        cutoff : float, optional
            Vertices farther than this stay unreached.
        parents : {'any', 'smallest'} or None, optional
            As for `bfs`.
        delta : float, optional
            Width of a bucket; 0: chosen. It decides how fast the search is, not what it finds.
        algorithm : {'automatic', 'dijkstra', 'delta_stepping'}, optional

        Returns
        -------
        Sssp

        Raises
        ------
        Error
            For a negative weight, NaN, or what is no vertex.

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
        return Sssp(distances, None if parents is None else found, source, reached, used, reason)

    def _weights(self) -> Any:
        """Where the graph lives; 1 for each edge where there are none."""
        if self._there is not None and self._there[2] is not None:
            return self._there[2]
        weights = self.weights
        entries = (self._host or self._arrays())[1].size
        return self._argument(np.ones(entries, np.int32) if weights is None else weights)

    def connected_components(
        self, *, connection: str = "weak", labels: str = "dense", algorithm: str = "automatic"
    ) -> tuple[int, Array]:
        """Connected components.

        Parameters
        ----------
        connection : {'weak', 'strong'}, optional
            Paths ignore direction, or follow it both ways.
        labels : {'dense', 'smallest_vertex', 'sinks_first'}, optional
            0 to count - 1 in the order of the components' smallest vertices, or those vertices; or, of strong ones, 0 to
            count - 1 in the order in which a depth-first search finishes them: no edge leads to a larger label.
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
        personalization: npt.ArrayLike | None = None,
        guess: npt.ArrayLike | None = None,
        dangling: str = "personalization",
        dtype: npt.DTypeLike = np.float64,
        algorithm: str = "automatic",
    ) -> PageRank:
        """PageRank; weights do not count.

        Parameters
        ----------
        damping : float, optional
            0 to 1, 1 excluded.
        tolerance : float, optional
            The iteration ends with a step that changes the ranks by no more than this.
        norm : {'l1', 'linf'}, optional
        max_iterations : int, optional
            After so many it ends without having converged.
        iterations : int, optional
            Above 0: exactly so many.
        personalization, guess : array_like, shape (vertices,), optional
            Where the walk starts afresh, and what the iteration starts with; none negative, not all 0.
        dangling : {'personalization', 'uniform', 'drop'}, optional
            Where the rank of vertices without out-edges goes.
        dtype : {float64, float32}, optional
        algorithm : {'automatic', 'jacobi', 'gauss_seidel'}, optional
            jacobi gives the same bits for any number of threads.

        Returns
        -------
        PageRank

        Raises
        ------
        Error
            For options out of range.
        """
        wanted = np.dtype(dtype)
        if wanted not in (np.float32, np.float64):
            raise UnsupportedError(f"pagerank: ranks of {wanted}", "unsupported")
        vectors = (
            self._argument(np.empty(0) if a is None else a if _device.kind_of(a) else flat(a, "pagerank"), wanted)
            for a in (personalization, guess)
        )
        options = (wanted.name, damping, tolerance, norm, max_iterations, iterations, dangling, algorithm, threads())
        return PageRank(
            *self._planned(
                ("pagerank", *options), lambda: self._algorithm("pagerank", True)(*options), *vectors
            )
        )

    def betweenness(
        self,
        sources: npt.ArrayLike | None = None,
        *,
        normalization: str = "pairs",
        endpoints: bool = False,
        algorithm: str = "automatic",
    ) -> Array:
        """Betweenness centrality, exact or from some sources; paths have no weights.

        Parameters
        ----------
        sources : array_like of int, optional
            By default all vertices.
        normalization : {'pairs', 'none', 'maximum'}, optional
            Over the number of pairs that could count, as networkx has it; the sums; or over the largest value.
        endpoints : bool, optional
            Whether a path counts for its ends, too.
        algorithm : {'automatic', 'by_level', 'by_source'}, optional

        Returns
        -------
        ndarray of float64, shape (vertices,)

        Notes
        -----
        O(sources * (vertices + edges)).
        """
        values: Array = self._called(
            "betweenness", True, self._sources(sources), normalization, endpoints, algorithm, threads()
        )
        return values

    def edge_betweenness(self, sources: npt.ArrayLike | None = None, *, normalization: str = "pairs") -> Array:
        """Betweenness centrality of edges, exact or from some sources; paths have no weights.

        Parameters
        ----------
        sources : array_like of int, optional
            By default all vertices.
        normalization : {'pairs', 'none', 'maximum'}, optional
            As for `betweenness`, over pairs of vertices or the largest edge's value.

        Returns
        -------
        ndarray of float64, shape of `indices`
            Of the paths in the direction in which an edge is stored, as undirected ones are at both ends: equal where
            all vertices are sources, and to be added where some are.

        Notes
        -----
        O(sources * (vertices + edges)).
        """
        values: Array = self._called("edge_betweenness", True, self._sources(sources), normalization, threads())
        return values

    def triangles(self, *, algorithm: str = "automatic") -> Triangles:
        """Triangles: three vertices joined pairwise. Direction, loops and duplicate edges do not count.

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
        """Local clustering coefficients: the share of the pairs of a vertex's neighbours that are joined.

        Parameters
        ----------
        directed : bool, optional
            Count directed edges among the neighbours, and ordered pairs: LDBC Graphalytics' coefficient.

        Returns
        -------
        ndarray of float64, shape (vertices,)
            0 for fewer than two neighbours.
        """
        _, per_vertex, links, degrees = self._algorithm("triangles", False)(directed, "automatic", threads())
        counts, degrees = (
            _device.downloaded(a) if _device.is_vector(a) else a for a in (links if directed else per_vertex, degrees)
        )
        values: Array = _core.local_clustering(counts, degrees, directed, threads())
        return values

    def transitivity(self) -> float:
        """Three times the triangles over the pairs of edges that share an end; 0 without such pairs."""
        total, _, _, degrees = self._algorithm("triangles", False)(False, "automatic", threads())
        degrees = _device.downloaded(degrees) if _device.is_vector(degrees) else degrees
        return float(_core.transitivity(total, degrees))

    def communities(
        self, *, iterations: int = 10, initial: npt.ArrayLike | None = None, algorithm: str = "automatic"
    ) -> tuple[int, Array]:
        """Communities by label propagation, as LDBC Graphalytics has it (CDLP).

        Parameters
        ----------
        iterations : int, optional
            Rounds, of which each gives every vertex the label that most of its neighbours had before it.
        initial : array_like of int, shape (vertices,), optional
            Labels before the first round, 0 to vertices - 1; by default the vertex itself.
        algorithm : {'automatic', 'all_vertices', 'frontier'}, optional

        Returns
        -------
        count : int
        labels : ndarray of the graph's indices, shape (vertices,)
        """
        start = self._argument(self._sources(initial))
        labels, count, _ = self._called("communities", True, iterations, start, algorithm, threads())
        return count, labels


def _weights_of(values: npt.ArrayLike) -> Array:
    """Weights in one of the library's types."""
    array = flat(values, "weights")
    if array.dtype in WEIGHTS:
        return array
    if array.dtype.kind in "biu" and array.dtype.itemsize < 8:
        return array.astype(np.int64)
    if array.dtype == np.uint64 and (array.size == 0 or array.max() <= np.iinfo(np.int64).max):
        return array.astype(np.int64)
    if array.dtype == np.float16:
        return array.astype(np.float32)
    raise UnsupportedError(
        f"weights of {array.dtype}; the library has int32, int64, float32 and float64", "unsupported"
    )


def _is_symmetric(n: int, offsets: Array, indices: Array, weights: Array | None) -> bool:
    """Whether a CSR matrix with ascending columns is its own transpose, and so an undirected graph as it is."""
    if weights is None:
        turned_offsets, turned = _core.pattern_transpose(n, n, offsets, indices, threads())
    else:  # weights move as bits, whatever they are
        bits = weights.view(f"f{weights.itemsize}")
        turned_offsets, turned, moved = _core.csr_transpose(n, n, offsets, indices, bits, threads())
        if not np.array_equal(moved.view(f"i{weights.itemsize}"), weights.view(f"i{weights.itemsize}")):
            return False
    return np.array_equal(turned_offsets, offsets) and np.array_equal(turned, indices)
