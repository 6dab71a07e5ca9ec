"""Snapshots (``.spg``) of matrices and graphs.

The format has a matrix of floating-point numbers, ids (ascending integers or strings), and notes. Other properties of a
graph are in the notes, as JSON: ``{"spargo.Graph": {"weights": "int32", "ids": "integers", "multigraph": true}}``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _core
from ._arrays import Array, is_graph
from ._config import threads
from ._errors import UnsupportedError
from ._io import path_of

if TYPE_CHECKING:
    from ._graph import Graph
    from ._matrix import Matrix

GRAPH = "spargo.Graph"
EXACT = 2**53  # float64 represents all integers up to here


class Snapshot(NamedTuple):
    """The contents of a file, as a matrix and as a graph."""

    shape: tuple[int, int]
    offsets: Array
    indices: Array
    values: Array | None
    weights: Array | None
    ids: Sequence[Hashable] | Array | None
    directed: bool
    multigraph: bool
    is_graph: bool
    is_mirrored: bool  # known to list each undirected edge in both directions


def opened(path: str) -> Snapshot:
    """Open and map a snapshot."""
    ids: Any
    rows, cols, offsets, indices, values, ids, directed, are_counts, text = _core.load(path, threads())
    notes = _decoded(text)
    graph = notes.get(GRAPH)
    said = graph if isinstance(graph, dict) else {}
    weights = None if are_counts else values
    if weights is not None and said.get("weights") in ("int32", "int64"):
        weights = weights.astype(said["weights"])
    elif weights is not None and "lightest" in notes:  # the matrix has the sum of duplicate edges
        weights = weights.copy()
        for entry, weight in notes["lightest"]:
            if 0 <= entry < weights.size:
                weights[entry] = weight
    if ids is not None and said.get("ids") == "integers" and all(map(_is_integer, ids)):
        ids = list(map(int, ids))
    is_one = values is None or ids is not None or bool(said)
    multigraph = said.get("multigraph") is True
    is_mirrored = bool(said) and not directed
    return Snapshot((rows, cols), offsets, indices, values, weights, ids, directed, multigraph, is_one, is_mirrored)


def _decoded(notes: bytes) -> dict[str, Any]:
    """The notes; empty for those of another program."""
    if not notes.startswith((b'{"lightest"', b'{"%s"' % GRAPH.encode())):
        return {}
    try:
        found = json.loads(notes)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _is_integer(text: Any) -> bool:
    return isinstance(text, str) and text.lstrip("-").isdecimal()


def _coded_ids(graph: Graph) -> tuple[Array | None, list[bytes] | None, str | None]:
    """Ids as integers or as strings, and their kind for the notes."""
    nodes: Any = graph.nodes
    if nodes is None or graph.vertices == 0:
        return None, None, None
    listed = nodes.tolist() if isinstance(nodes, np.ndarray) else list(nodes)
    kinds = list(dict.fromkeys(str if isinstance(node, str) else type(node) for node in listed))
    if kinds == [str]:
        return None, [node.encode("utf-8", "surrogateescape") for node in listed], None
    if all(kind is int or issubclass(kind, np.integer) for kind in kinds):
        numbers = list(map(int, listed))
        if all(map(int.__lt__, (-1, *numbers), (*numbers, 2**63))):
            return np.array(numbers, np.int64), None, None
        return None, [str(node).encode() for node in listed], "integers"
    examples = [next(repr(node) for node in listed if isinstance(node, kind)) for kind in kinds[:2]]
    raise UnsupportedError(
        f"save: ids such as {' and '.join(examples)} (expected integers or strings; pickle keeps any, and "
        "save(path, graph.to_scipy()) the matrix without ids)",
        "unsupported",
    )


def _save_graph(path: str, graph: Graph) -> None:
    ids, names, kind = _coded_ids(graph)
    values = graph.weights
    integers = values is not None and values.dtype.kind == "i"
    notes = {"weights": values.dtype.name if values is not None and integers else None, "ids": kind}
    if values is not None and integers:
        if values.size > 0 and not -EXACT <= values.min() <= values.max() <= EXACT:
            raise UnsupportedError("save: weights beyond 2^53, which float64 rounds (pickle keeps them)", "unsupported")
        values = values.astype(np.float64)
    text = json.dumps({GRAPH: {**notes, "multigraph": graph.is_multigraph()}}, separators=(",", ":"))
    extras = _core.SnapshotExtras(graph.directed, integers, ids, names, text)
    _core.save(path, graph.vertices, graph.vertices, graph.offsets, graph.indices, values, extras, threads())


def save(path: str | os.PathLike[str], a: Matrix | Graph | Any) -> None:
    """Write a snapshot (``.spg``), which `load` maps into memory.

    Parameters
    ----------
    path : str or path
        The file appears complete or not at all.
    a : Matrix, Graph, networkx graph, or sparse matrix or array
        A graph keeps its edges, direction, weights and ids.

    Raises
    ------
    Error
        For a malformed matrix.
    NotImplementedError
        For ids that are neither integers nor strings, for integer weights beyond 2^53, and if the library was built
        without xxHash.

    Examples
    --------
    >>> import os, tempfile, spargo
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spargo.save(os.path.join(folder, "grid.spg"), spargo.generate("gen:laplacian2d:n=3"))
    ...     spargo.load(os.path.join(folder, "grid.spg"))
    <spargo.Matrix: 9 x 9, 33 entries, float64, csr, on the CPU>
    """
    from ._graph import Graph
    from ._matrix import Matrix

    if is_graph(a):
        return _save_graph(path_of(path), Graph(a))
    matrix = a._on_host() if isinstance(a, Matrix) else Matrix(a, device="cpu")
    _core.save(path_of(path), *matrix.shape, *matrix._csr_arrays(), _core.SnapshotExtras(), threads())


def load(path: str | os.PathLike[str]) -> Matrix | Graph:
    """Open a snapshot (``.spg``): mapped and checked in one pass, without a copy.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Matrix or Graph
        The saved object. A snapshot of another program is a graph if it has ids or no values; `Graph.read` and `Matrix`
        open any. The arrays are read-only.

    Raises
    ------
    Error
        For a damaged file.
    NotImplementedError
        If the library was built without xxHash.
    """
    from ._graph import Graph
    from ._matrix import Matrix

    found = opened(path_of(path))
    if found.is_graph and found.shape[0] == found.shape[1]:
        return Graph._of_snapshot(found)
    values = np.ones(found.indices.size) if found.values is None else found.values
    return Matrix._of("csr", found.shape, found.offsets, found.indices, values)
