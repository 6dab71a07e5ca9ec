"""Conversion from and to SciPy matrices without copies, and a picture of the pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import Array, dense, is_graph
from ._errors import Error

if TYPE_CHECKING:
    from ._matrix import Matrix


def as_sparse(a: Any, what: str = "Matrix") -> Any:
    """A SciPy matrix in a supported format; for a graph its adjacency matrix."""
    from scipy import sparse

    from ._graph import Graph

    if is_graph(a):
        return Graph(a).to_scipy()
    is_sparse: bool = sparse.issparse(a)
    if not is_sparse:
        a = dense(a, what)
        if a.ndim != 2:
            raise Error(f"{what}: two dimensions are expected, and this has {a.ndim}")
        return sparse.csr_array(a)
    if len(a.shape) != 2:
        raise Error(f"{what}: two dimensions are expected, and this has {len(a.shape)}")
    return a if a.format in ("csr", "csc", "coo") else a.tocsr()


def assembled(kind: str, shape: tuple[int, int], first: Array, second: Array, values: Array, suffix: str = "array") -> Any:
    """A SciPy matrix that shares these arrays; its constructor might narrow the indices."""
    from scipy import sparse

    made = getattr(sparse, f"{kind}_{suffix}")(shape, dtype=values.dtype)
    if kind == "coo":
        made.row, made.col, made.data = first, second, values
    else:
        made.indptr, made.indices, made.data = first, second, values
    return made


def spy(matrix: Matrix, side: int = 160, most: int = 40, sample: int = 200_000) -> str:
    """A picture of the density of entries, from at most `sample` of them."""
    rows, cols = matrix.shape
    if rows == 0 or cols == 0:
        return ""
    chosen = np.arange(0, matrix.nnz, max(1, matrix.nnz // sample))
    second = matrix._second[chosen]
    if matrix.format == "coo":
        row, col = matrix._first[chosen], second
    else:
        major = np.searchsorted(matrix._first, chosen, side="right") - 1
        row, col = (major, second) if matrix.format == "csr" else (second, major)
    cells = min(most, max(rows, cols))
    down, across = max(1, cells * rows // max(rows, cols)), max(1, cells * cols // max(rows, cols))
    counts = np.zeros((down, across), dtype=np.int64)
    np.add.at(counts, (row.astype(np.int64) * down // rows, col.astype(np.int64) * across // cols), 1)
    cell = side / cells
    squares = "".join(
        f'<rect x="{j * cell:.1f}" y="{i * cell:.1f}" width="{cell:.1f}" height="{cell:.1f}" '
        f'fill-opacity="{0.2 + 0.8 * counts[i, j] / counts.max():.2f}"/>'
        for i, j in zip(*np.nonzero(counts))
    )
    width, height = across * cell, down * cell
    return (
        f'<svg width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.1f} {height:.1f}" fill="#124" '
        f'style="border:1px solid #999">{squares}</svg>'
    )
