"""Graphs from data frames, and graphs and results as tables: methods of `Graph`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from . import _device
from ._algorithms import Algorithms
from ._arrays import Array, weights_of, whole
from ._errors import Error
from ._frames import edges_of, is_pandas, is_polars
from ._table import Column, Ids, Table, by_vertex

Made = TypeVar("Made", bound="Tabular")


class Tabular(Algorithms):
    """The methods of `Graph` for data frames."""

    __slots__ = ()

    @classmethod
    def from_arrow(
        cls: type[Made],
        table: Any,
        source: Hashable = None,
        target: Hashable = None,
        weight: Hashable = None,
        *,
        directed: bool | None = None,
        weights: bool = True,
        vertices: int | None = None,
        duplicates: str = "min",
        device: str = "auto",
    ) -> Made:
        """The graph of a table with a row for each edge, by the Arrow PyCapsule interface.

        Parameters
        ----------
        table : object with ``__arrow_c_stream__`` or ``__arrow_c_array__``, or pandas data frame
            Of pyarrow, polars, DuckDB and others. Columns of int32, int64, float32 and float64 in one chunk are not
            copied.
        source, target : str, optional
            The columns of the ends: of integers (0 to 2^63 - 1), strings or UUIDs, dictionaries of these included. By
            default the columns whose names say so, such as ``source`` and ``target``, ``src`` and ``dst``, in any case;
            if no name is known, the first two. Without nulls.
        weight : str, optional
            The column of the weights, numbers without nulls. By default, unless source and target are given, the column
            whose name says so, such as ``weight``; if no name is known, the third.
        directed : bool, optional
            By default as a column ``Type`` says (Gephi's), else True.
        weights : bool, optional
            False: no weights.
        vertices : int, optional
            The integers are vertices, 0 to vertices - 1. By default they are ids: vertices are numbered by ascending
            id, and only those that occur are there.
        duplicates : {'min', 'max', 'sum', 'first'}, optional
            The weight of an edge that is listed several times.
        device : {'auto', 'cpu', 'cuda', 'cuda:N'}, optional
            As for `from_scipy`.

        Returns
        -------
        Graph
            ``ids`` has the ids: integers in ascending order, or names in order of first occurrence.

        Raises
        ------
        Error
            For ambiguous columns, nulls and ids out of range, with column and row (from 0), and for a table that
            contradicts itself.
        UnsupportedError
            For columns of other types.

        Warns
        -----
        InputWarning
            For columns of numbers that are not used as weights.

        Examples
        --------
        >>> import spargo
        >>> edges = spargo.Graph([("alice", "bob"), ("bob", "carol")]).to_arrow()
        >>> g = spargo.Graph.from_arrow(edges)  # as it takes data frames
        >>> g.ids.tolist(), g.bfs("alice").to_arrow().columns
        (['alice', 'bob', 'carol'], ['id', 'level', 'parent'])
        """
        found = (table, source, target, weight, weights, directed, vertices, duplicates, device)
        return cls._of_table("Graph.from_arrow", *found)

    @classmethod
    def from_pandas(
        cls: type[Made],
        table: Any,
        source: Hashable = None,
        target: Hashable = None,
        weight: Hashable = None,
        *,
        directed: bool | None = None,
        weights: bool = True,
        vertices: int | None = None,
        duplicates: str = "min",
        device: str = "auto",
    ) -> Made:
        """The graph of a pandas data frame with a row for each edge; pyarrow is not needed.

        Ids that are neither integers nor strings may be any objects that can be keys of a dict.

        Parameters
        ----------
        table : pandas.DataFrame
        source, target, weight, directed, weights, vertices, duplicates, device
            As for `from_arrow`; columns by their labels.

        Returns
        -------
        Graph
        """
        if not is_pandas(table):
            raise TypeError(f"Graph.from_pandas: a pandas.DataFrame is expected, and this is a {type(table).__name__}")
        found = (table, source, target, weight, weights, directed, vertices, duplicates, device)
        return cls._of_table("Graph.from_pandas", *found)

    @classmethod
    def from_polars(
        cls: type[Made],
        table: Any,
        source: Hashable = None,
        target: Hashable = None,
        weight: Hashable = None,
        *,
        directed: bool | None = None,
        weights: bool = True,
        vertices: int | None = None,
        duplicates: str = "min",
        device: str = "auto",
    ) -> Made:
        """The graph of a polars data frame with a row for each edge.

        Parameters
        ----------
        table : polars.DataFrame
        source, target, weight, directed, weights, vertices, duplicates, device
            As for `from_arrow`.

        Returns
        -------
        Graph
        """
        if not is_polars(table):
            raise TypeError(f"Graph.from_polars: a polars.DataFrame is expected, and this is a {type(table).__name__}")
        found = (table, source, target, weight, weights, directed, vertices, duplicates, device)
        return cls._of_table("Graph.from_polars", *found)

    @classmethod
    def _of_table(
        cls: type[Made],
        what: str,
        table: Any,
        source: Hashable,
        target: Hashable,
        weight: Hashable,
        weights: bool,
        directed: bool | None,
        vertices: int | None,
        duplicates: str,
        device: str,
    ) -> Made:
        place = _device.place_for(device)
        count = None if vertices is None else whole(vertices, f"{what}: vertices", 0)
        edges = edges_of(table, what, source, target, weight, weights, count is not None)
        if count is None:
            ends = (edges.sources, edges.targets)
            if edges.ids is not None:
                count = len(edges.ids)
            else:
                count = max((int(end.max()) + 1 for end in ends if end.size > 0), default=0)
        if directed is None:
            directed = edges.directed is not False
        values = None if edges.weights is None else weights_of(edges.weights)
        made: Made = cls._built(  # type: ignore[attr-defined]  # Graph's
            count, edges.sources, edges.targets, values, directed, duplicates, edges.ids, place
        )
        return made

    @property
    def ids(self) -> Array:
        """ndarray, shape (vertices,): the ids of the vertices; the vertices themselves if they have none."""
        found: Array = Ids(self.nodes, self.vertices).all()
        return found

    def table(self, **columns: npt.ArrayLike) -> Table:
        """Results by vertex as a table with the vertices' ids.

        Parameters
        ----------
        columns : array_like of numbers, shape (vertices,)
            Each under the name of its column. The first column is ``id``.

        Returns
        -------
        Table

        Examples
        --------
        >>> import spargo
        >>> g = spargo.Graph([("alice", "bob"), ("bob", "carol")])
        >>> g.table(core=g.core_numbers(), rank=g.pagerank().ranks)
        <spargo.Table: 3 rows of id, core, rank>
        """
        return by_vertex(Ids(self.nodes, self.vertices), columns)

    def to_arrow(self) -> Table:
        """The edges as a `Table` with the columns ``source``, ``target`` and, if there are weights, ``weight``.

        The ends are ids. An undirected edge is listed once.
        """
        sources, targets, weights = self._sources(), self.indices, self.weights
        if not self.directed:
            once = sources <= targets
            sources, targets = sources[once], targets[once]
            weights = None if weights is None else weights[once]
        ids = Ids(self.nodes, self.vertices)
        columns = {"source": ids.of(sources), "target": ids.of(targets)}
        if weights is not None:
            columns["weight"] = Column(np.asarray(weights))
        return Table(columns)

    def to_networkx(self) -> Any:
        """The graph as a ``networkx.Graph`` or ``DiGraph`` of its ids, with the edge attribute ``weight``, if there are weights.

        networkx must be installed. Parallel edges of a multigraph of networkx's stay parallel.

        Examples
        --------
        >>> import spargo
        >>> spargo.Graph([("alice", "bob", 2.0)]).to_networkx().edges(data=True)
        OutEdgeDataView([('alice', 'bob', {'weight': 2.0})])
        """
        from .networkx import convert_to_nx

        return convert_to_nx(self._on_host())

    def to_pandas(self) -> Any:
        """The edges as a ``pandas.DataFrame``, as by `to_arrow`; pandas must be installed."""
        return self.to_arrow().to_pandas()
