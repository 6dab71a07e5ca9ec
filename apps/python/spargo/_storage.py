"""A graph's arrays on host and device, the library's views of them, and the cached plans."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from numbers import Number
from typing import Any, TypeVar, Union

import numpy as np
import numpy.typing as npt

from . import _core, _device
from ._arrays import Array, dense, is_graph, whole
from ._config import threads
from ._errors import Error, UnsupportedError
from ._scipy import assembled, spy

Made = TypeVar("Made", bound="Stored")
Vertex = Hashable  # its number, or its id where that is no number
Vertices = Union[npt.ArrayLike, Iterable[Vertex]]


def _is_id(vertex: Any) -> bool:
    """Whether it is an id and cannot be a vertex number."""
    if isinstance(vertex, (Number, np.generic)) or hasattr(vertex, "__index__") or vertex is None:
        return isinstance(vertex, str)
    return isinstance(vertex, Hashable)


class Stored:
    """Storage and basic properties of a `Graph`."""

    __slots__ = (
        "__networkx_cache__",
        "__weakref__",
        "_bound",
        "_host",
        "_in",
        "_index",
        "_kind",
        "_largest",
        "_loops",
        "_multigraph",
        "_place",
        "_plans",
        "_simple",
        "_there",
        "directed",
        "nodes",
    )

    directed: bool
    nodes: Sequence[Hashable] | Array | None
    _host: tuple[Array, Array, Array | None] | None  # offsets, indices, weights
    _there: tuple[Any, Any, Any] | None  # the same on a GPU; one of both is there
    _place: Any  # the GPU, or None
    _kind: _device.Kind | None  # whose arrays it returns from there; None: NumPy's
    _in: tuple[Any, Any] | None
    _index: dict[Hashable, int] | None
    _largest: float | None  # weight that is finite, and _loops: once something asked for them
    _loops: int | None
    _multigraph: bool
    _simple: Any  # result of _merge, () if it has none; None: not yet called
    _bound: dict[bool, Any]  # the library's view, without and with in-edges
    __networkx_cache__: None
    _plans: dict[str, tuple[tuple[Any, ...], Any]]

    @classmethod
    def _of(
        cls: type[Made],
        offsets: Array,
        indices: Array,
        weights: Array | None,
        directed: bool,
        nodes: Sequence[Hashable] | Array | None = None,
        multigraph: bool = False,
    ) -> Made:
        made = cls.__new__(cls)
        made._host, made._there = (offsets, indices, weights), None
        made.directed, made.nodes = directed, nodes
        made._place = made._kind = None
        made._multigraph = multigraph
        made._largest = made._loops = made._simple = None
        made._in = None
        made._index = None
        made._bound = {}
        made._plans = {}
        made.__networkx_cache__ = None
        return made

    @classmethod
    def _of_device(
        cls: type[Made], offsets: Any, indices: Any, weights: Any, directed: bool, kind: _device.Kind | None
    ) -> Made:
        made = cls._of(offsets, indices, weights, directed)
        made._host, made._there = None, (offsets, indices, weights)
        made._place = _device.place_at(indices.ordinal)
        made._kind = kind
        return made

    def _moved(self: Made, place: Any) -> Made:
        """The graph itself, now on a GPU; the first call copies its arrays."""
        self._place = place
        return self

    def _on_host(self: Made) -> Made:
        """The graph itself, or a copy on the CPU."""
        return self if self._place is None else self._of(*self._here(), self.directed, self.nodes, self._multigraph)

    # --- Properties ---------------------------------------------------------------------------------------------------

    def _here(self) -> tuple[Array, Array, Array | None]:
        """The arrays on the host; copies of those on a GPU are kept."""
        if self._host is None:
            assert self._there is not None
            offsets, indices, weights = self._there
            values = None if weights is None else _device.downloaded(weights)
            self._host = (_device.downloaded(offsets), _device.downloaded(indices), values)
        return self._host

    def _for_numpy(self: Made) -> Made:
        """The graph itself, or one with the same arrays and plans that returns NumPy arrays, whatever `config` says."""
        if self._place is None or self._kind is _device.NUMPY:
            return self
        made = type(self).__new__(type(self))
        made._become(self)
        made._kind = _device.NUMPY
        return made

    def _become(self, other: Stored) -> None:
        for name in Stored.__slots__:
            if name != "__weakref__":
                setattr(self, name, getattr(other, name))

    def _arrays(self) -> tuple[Any, Any]:
        """Offsets and indices on the graph's device; copies of the host's are kept."""
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
        """Number of vertices."""
        return int((self._host or self._arrays())[0].size - 1)

    @property
    def edges(self) -> int:
        """Number of edges; an undirected edge counts once, as does a loop."""
        entries = int((self._host or self._arrays())[1].size)
        return entries if self.directed else (entries + self._loop_count()) // 2

    def _sources(self) -> Array:
        """The source of each entry."""
        return np.repeat(np.arange(self.vertices, dtype=self.indices.dtype), np.diff(self.offsets))

    def _loop_count(self) -> int:
        if self._loops is None:
            self._loops = int(np.count_nonzero(self.indices == self._sources()))
        return self._loops

    def _without_loops(self: Made) -> Made:
        """The graph itself, or a copy without loops, for algorithms that would count them."""
        return self if self._loop_count() == 0 else self._kept(self._sources() != self.indices)

    def _kept(self: Made, kept: Array) -> Made:
        """The graph with the selected entries, on the same device."""
        offsets, indices, weights = self._here()
        counts = np.append(0, np.cumsum(kept))[offsets].astype(offsets.dtype)
        values = None if weights is None else weights[kept]
        made = self._of(counts, indices[kept], values, self.directed, self.nodes, self._multigraph)._moved(self._place)
        made._kind = self._kind
        return made

    def _induced(self: Made, kept: Array) -> Made:
        """The subgraph of the selected vertices, on the same device; ids are kept."""
        offsets, indices, weights = self._kept(kept[self._sources()] & kept[self.indices])._here()
        numbers = np.cumsum(kept) - 1
        left = np.flatnonzero(kept)
        names = left if self.nodes is None else self.names(left)
        made = self._of(
            np.append(offsets[left], offsets[-1:]),
            numbers[indices].astype(indices.dtype),
            weights,
            self.directed,
            names,
            self._multigraph,
        )._moved(self._place)
        made._kind = self._kind
        return made

    def _merged(self: Made) -> tuple[Made, Array] | None:
        """A copy without parallel edges and, for each entry, its entry in the copy; None if no edges are parallel."""
        if self._simple is None:
            self._simple = self._merge() or ()
        return self._simple or None

    def _merge(self: Made) -> tuple[Made, Array] | None:
        sources, indices = self._sources(), self.indices
        if np.all(np.diff(indices)[np.diff(sources) == 0] > 0):
            return None
        order = np.lexsort((indices, sources))
        repeated = (np.diff(sources[order]) == 0) & (np.diff(indices[order]) == 0)
        if not repeated.any():
            return None
        kept = np.ones(order.size, bool)
        kept[order[1:][repeated]] = False
        group = np.empty(order.size, np.int64)
        group[order] = np.append(0, np.cumsum(~repeated))
        entry = np.empty(np.count_nonzero(kept), np.int64)
        entry[group[kept]] = np.arange(entry.size)
        return self._kept(kept), entry[group]

    def _largest_weight(self) -> float:
        """The largest finite weight."""
        if self._largest is None:
            weights: Any = self._host[2] if self._host is not None else _device.downloaded(self._there[2])  # type: ignore[index]
            if not np.isfinite(weights.max(initial=0)):
                weights = weights[np.isfinite(weights)]
            self._largest = weights.max(initial=0).item()
        return self._largest

    @property
    def degrees(self) -> Array:
        """ndarray, shape (vertices,): number of out-edges of each vertex."""
        return np.diff(self.offsets)

    def neighbours(self, vertex: Vertex) -> Array:
        """The targets of a vertex's out-edges, a view of ``indices``."""
        vertex = self._vertex(vertex)
        return self.indices[self.offsets[vertex] : self.offsets[vertex + 1]]

    def to_scipy(self) -> Any:
        """The adjacency matrix as ``csr_array``, with the same arrays; all 1 (float64) if the graph has no weights."""
        values = np.ones(self.indices.size) if self.weights is None else self.weights
        return assembled("csr", (self.vertices, self.vertices), self.offsets, self.indices, values)

    def __len__(self) -> int:
        return self.vertices

    def is_directed(self) -> bool:
        """For networkx."""
        return self.directed

    def is_multigraph(self) -> bool:
        """For networkx: whether it was made from a multigraph and keeps parallel edges."""
        return self._multigraph

    def index(self, node: Hashable) -> int:
        """The vertex of an id; raises KeyError if there is none."""
        node = node.item() if isinstance(node, np.generic) else node
        if self.nodes is None:
            if isinstance(node, (int, np.integer)) and 0 <= node < self.vertices:
                return int(node)
            raise KeyError(f"the graph has no vertex {node!r}: {self._numbers()}")
        if self._index is None:
            names = self.nodes.tolist() if isinstance(self.nodes, np.ndarray) else self.nodes
            self._index = {name: i for i, name in enumerate(names)}
        try:
            return self._index[node]
        except KeyError:
            raise KeyError(f"the graph has no node {node!r} (Graph.nodes lists the ids)") from None

    def _numbers(self) -> str:
        return f"vertices are numbered 0 to {self.vertices - 1}" if self.vertices > 0 else "it is empty"

    def names(self, vertices: npt.ArrayLike) -> list[Any]:
        """The ids of vertices; the vertices themselves if the graph has no ids. None may be out of range, as -1 is."""
        vertices = np.asarray(vertices, dtype=None if np.size(vertices) > 0 else np.int64)
        wrong = vertices[(vertices < 0) | (vertices >= self.vertices)]  # -1 would be the last one's name
        if wrong.size > 0:
            raise Error(f"vertex {wrong.flat[0]} is out of range: {self._numbers()}")
        if self.nodes is None:
            return list(vertices.tolist())
        if isinstance(self.nodes, np.ndarray):
            return list(self.nodes[vertices].tolist())
        return list(map(self.nodes.__getitem__, vertices.tolist()))

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (*self._here(), self.directed, self.nodes, self._multigraph)
        made = type(self)
        return (made._of, parts) if self._place is None else (made._restored, (self.device, *parts))

    @classmethod
    def _restored(cls: type[Made], device: str, *parts: Any) -> Made:
        return cls._of(*parts)._moved(_device.place_for(device))

    def __repr__(self) -> str:
        weights = (self._host or self._there or (None, None, None))[2]
        weighted = "" if weights is None else f" with weights of {weights.dtype}"
        return (
            f"<spargo.Graph: {self.vertices:,} {'vertex' if self.vertices == 1 else 'vertices'}, "
            f"{self.edges:,} {'' if self.directed else 'un'}directed edge{'' if self.edges == 1 else 's'}"
            f"{weighted}, on {'the CPU' if self._place is None else self.device}>"
        )

    def _repr_html_(self) -> str:
        from ._matrix import Matrix

        picture = Matrix._of("csr", (self.vertices, self.vertices), self.offsets, self.indices, self.indices)
        return f"<p><code>{repr(self)[1:-1]}</code></p>{spy(picture)}"

    # --- For algorithms -----------------------------------------------------------------------------------------------

    def _vertex(self, vertex: Any) -> int:
        """The vertex that a caller means: by its number, or by an id that is not an integer."""
        if _is_id(vertex):
            if self.nodes is None:
                raise TypeError(f"a vertex is {vertex!r} (expected an integer: the graph has no ids)")
            try:
                return self.index(vertex)
            except KeyError as e:
                raise Error(e.args[0]) from None
        number = whole(vertex, "a vertex")
        if not 0 <= number < self.vertices:
            raise Error(f"vertex {number} is out of range: {self._numbers()}{self._as_id(number)}")
        return number

    def _as_id(self, number: int) -> str:
        """For an error about a number out of range: whether a node has it as its id."""
        if self.nodes is None:
            return ""
        try:
            return f"; the node with the id {number} is vertex {self.index(number)}, as Graph.index({number}) says"
        except KeyError:
            return f", and no node has the id {number}"

    def _vertices(self, given: Any) -> Any:
        """Several vertices that a caller means; numbers alone are unchanged."""
        given = dense(given, "vertices") if hasattr(given, "__array__") or is_graph(given) else given
        is_array = isinstance(given, np.ndarray) and (given.dtype.kind not in "OUT" or given.ndim != 1)
        if is_array or isinstance(given, str) or not isinstance(given, Iterable):
            return given
        several = list(given)
        return [self._vertex(v) for v in several] if any(map(_is_id, several)) else several

    def _view(self, in_edges: bool) -> Any:
        """The library's view; the in-edges of a directed graph are built once."""
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
        """The library's function; a device may lack it (its binding names the spaces)."""
        found = getattr(self._view(in_edges), name, None)
        if found is None:
            raise UnsupportedError(f"Graph.{name}: not available on a GPU (expected device='cpu')", "unsupported")
        return found

    def _called(self, name: str, in_edges: bool, *arguments: Any) -> Any:
        return self._results(self._algorithm(name, in_edges)(*arguments))

    def _results(self, found: Any) -> Any:
        """A function's result with arrays for the caller; from a GPU copies, made before the plan's next run."""
        if self._place is None:
            return found
        if isinstance(found, tuple):
            return tuple(map(self._results, found))
        return _device.delivered(found, self._kind) if _device.is_vector(found) else found

    def _argument(self, a: Any, dtype: np.dtype[Any] | None = None) -> Any:
        """An array argument on the graph's device, uploaded if necessary."""
        if self._place is not None:
            return _device.vector(a, self._place, "Graph", dtype)
        a = _device.downloaded(a) if _device.kind_of(a) is not None else a
        return np.ascontiguousarray(a, dtype)

    def _planned(self, key: tuple[Any, ...], make: Any, *arguments: Any) -> Any:
        """The result of a plan. The last plan of each kind is kept; it serves one thread at a time."""
        kind = key[0]
        kept = self._plans.pop(kind, None)
        plan = kept[1] if kept is not None and kept[0] == key else make()
        result = self._results(plan.run(*arguments))
        self._plans[kind] = (key, plan)
        return result
