"""The backend's Fiedler vectors and what follows from them, with networkx's names and semantics."""

from __future__ import annotations

from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np

from . import _spectral, csgraph
from ._arrays import Array
from ._graph import Graph
from ._networkx_paths import Node


def _adjacency(graph: Graph) -> Any:
    """Without loops and edges of weight 0, as networkx takes it."""
    a = graph.to_scipy().astype(np.float64).tocoo()
    kept = (a.row != a.col) & (a.data != 0)
    return type(a)((a.data[kept], (a.row[kept], a.col[kept])), shape=a.shape).tocsr()


def _fiedler(a: Any, normalized: bool, tol: float, seed: Any) -> tuple[float, Array]:
    draw = getattr(seed, "integers", None) or seed.randint  # of NumPy's Generator or RandomState
    drawn = int(draw(2**31 - 1))
    found = _spectral.spectral_embedding(a, 1, normalized=normalized, tolerance=tol, seed=drawn)
    vector = found.positions[:, 0]
    # networkx makes its vectors orthonormal by Householder's reflections, which leave the first element negative.
    return float(found.values[0]), -vector if vector[0] > 0 else vector.copy()


def algebraic_connectivity(
    G: Graph,
    weight: str | None = "weight",
    normalized: bool = False,
    tol: float = 1e-8,
    method: str = "tracemin_pcg",
    seed: Any = None,
) -> float:
    if G.vertices < 2:
        raise nx.NetworkXError("graph has less than two nodes.")
    a = _adjacency(G)
    return 0.0 if csgraph.connected_components(a, directed=False)[0] > 1 else _fiedler(a, normalized, tol, seed)[0]


def fiedler_vector(
    G: Graph,
    weight: str | None = "weight",
    normalized: bool = False,
    tol: float = 1e-8,
    method: str = "tracemin_pcg",
    seed: Any = None,
) -> Array:
    if G.vertices < 2:
        raise nx.NetworkXError("graph has less than two nodes.")
    a = _adjacency(G)
    if csgraph.connected_components(a, directed=False)[0] > 1:
        raise nx.NetworkXError("graph is not connected.")
    return np.array([1.0, -1.0]) if G.vertices == 2 else _fiedler(a, normalized, tol, seed)[1]


def spectral_ordering(
    G: Graph,
    weight: str | None = "weight",
    normalized: bool = False,
    tol: float = 1e-8,
    method: str = "tracemin_pcg",
    seed: Any = None,
) -> list[Node]:
    if G.vertices == 0:
        raise nx.NetworkXError("graph is empty.")
    a = _adjacency(G)
    count, labels = csgraph.connected_components(a, directed=False)
    order = np.argsort(labels, kind="stable")
    ordered = []
    for part in np.split(order, np.searchsorted(labels[order], np.arange(1, count))):
        if part.size > 2:
            part = part[np.argsort(_fiedler(a[part][:, part], normalized, tol, seed)[1], kind="stable")]
        ordered.append(part)
    names: list[Node] = G.names(np.concatenate(ordered))
    return names
