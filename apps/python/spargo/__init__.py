"""Sparse matrices and graphs, fast on the machine you have.

``Matrix`` multiplies sparse matrices, ``Graph`` searches and ranks graphs, ``mmread`` and others read files.
``spargo.csgraph`` has the functions of `scipy.sparse.csgraph`, and networkx finds the backend ``spargo`` automatically. A
graph's vertices are numbered from 0; ``Graph.nodes`` has their ids, such as a file's, and ``Graph.index`` finds the number
of an id. NumPy and SciPy arrays are used without copies, and calls release the interpreter's lock while they compute. With
``device="cuda"`` matrices and graphs live on a GPU and exchange arrays with CuPy and PyTorch, also without copies.
"""

from __future__ import annotations

from . import csgraph
from ._core import version as __version__
from ._config import Device, config, devices
from ._errors import ConvergenceWarning, DeviceError, Error, FileError, InputWarning, MissingFileError, OutOfMemoryError, UnsupportedError
from ._graph import Graph
from ._io import EdgeList, generate, mminfo, mmread, mmwrite, read_edgelist
from ._loader import NeighborLoader
from ._matrix import Matrix, aslinearoperator
from ._reorder import reorder
from ._results import (
    Bfs,
    Biconnectivity,
    Communities,
    Eigenvector,
    Hits,
    Katz,
    MultiBfs,
    NeighborSample,
    PageRank,
    Path,
    Similarity,
    SpanningForest,
    Sssp,
    Triangles,
    Trusses,
)
from ._snapshot import load, save
from ._solve import Solution, solve
from ._spectral import Embedding, fiedler_vector, spectral_embedding
from ._svds import svds
from ._table import Table

__all__ = [
    "Bfs",
    "Biconnectivity",
    "Communities",
    "ConvergenceWarning",
    "Device",
    "DeviceError",
    "EdgeList",
    "Eigenvector",
    "Embedding",
    "Error",
    "FileError",
    "Graph",
    "Hits",
    "InputWarning",
    "Katz",
    "Matrix",
    "MissingFileError",
    "MultiBfs",
    "NeighborLoader",
    "NeighborSample",
    "OutOfMemoryError",
    "PageRank",
    "Solution",
    "Similarity",
    "SpanningForest",
    "Sssp",
    "Table",
    "Triangles",
    "Trusses",
    "UnsupportedError",
    "__version__",
    "aslinearoperator",
    "config",
    "csgraph",
    "devices",
    "fiedler_vector",
    "generate",
    "load",
    "mminfo",
    "mmread",
    "mmwrite",
    "read_edgelist",
    "reorder",
    "save",
    "solve",
    "spectral_embedding",
    "svds",
]
