"""The backend's centralities and its layout, with networkx's names and semantics."""

from __future__ import annotations

from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np
from networkx.algorithms.centrality.betweenness import _rescale  # type: ignore[import-untyped]

from ._arrays import Array
from ._errors import UnsupportedError
from ._graph import Graph
from ._networkx_paths import Node, _by_node, _found, _reversed


def closeness_centrality(G: Graph, u: Node | None = None, distance: None = None, wf_improved: bool = True) -> Any:
    sources = np.arange(G.vertices) if u is None else np.array([_found(G, u, text="Source {} is not in G")])
    found = _reversed(G).multi_bfs(sources, levels=False)
    others = found.reached - 1.0
    values = np.divide(others, found.distance_sums, out=np.zeros(sources.size), where=found.distance_sums > 0)
    if wf_improved and G.vertices > 1:
        values *= others / (G.vertices - 1)
    return _by_node(G, values) if u is None else values[0].item()


def harmonic_centrality(G: Graph, nbunch: None = None, distance: None = None, sources: None = None) -> dict[Node, float]:
    values: dict[Node, float] = _by_node(G, G.closeness(measure="harmonic"))
    return values


def _vector(graph: Graph, values: dict[Node, float] | None) -> Array | None:
    if values is None:
        return None
    vector = np.array([values.get(node, 0) for node in graph.names(np.arange(graph.vertices))], dtype=float)
    if vector.sum() == 0:
        raise ZeroDivisionError
    return vector


def pagerank(
    G: Graph,
    alpha: float = 0.85,
    personalization: dict[Node, float] | None = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: dict[Node, float] | None = None,
    weight: str | None = "weight",
    dangling: None = None,
) -> dict[Node, float]:
    if G.vertices == 0:
        return {}
    if max_iter < 1:
        raise nx.PowerIterationFailedConvergence(max_iter)
    # networkx stops when the ranks differ by vertices * tol.
    found = G.pagerank(
        damping=alpha,
        tolerance=G.vertices * tol,
        max_iterations=max_iter,
        personalization=_vector(G, personalization),
        guess=_vector(G, nstart),
        weighted=weight is not None and G.weights is not None,
    )
    if not found.converged:
        raise nx.PowerIterationFailedConvergence(max_iter)
    ranks: dict[Node, float] = _by_node(G, found.ranks)
    return ranks


def _values(graph: Graph, values: dict[Node, float] | None) -> Array | None:
    """One number for each node; networkx takes anything else itself."""
    if values is None:
        return None
    if set(values) != set(graph.names(np.arange(graph.vertices))):
        raise UnsupportedError("a mapping of other nodes than the graph's", "unsupported")
    return np.array([values[node] for node in graph.names(np.arange(graph.vertices))], dtype=float)


def eigenvector_centrality(
    G: Graph,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: dict[Node, float] | None = None,
    weight: str | None = None,
) -> dict[Node, float]:
    if G.vertices == 0:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    start = _values(G, nstart)
    if start is not None and not start.any():
        raise nx.NetworkXError("initial vector cannot have all zero values")
    if max_iter < 1:
        raise nx.PowerIterationFailedConvergence(max_iter)
    weighted = bool(weight) and G.weights is not None
    found = G.eigenvector(tolerance=tol, max_iterations=max_iter, start=start, weighted=weighted)
    if not found.converged:
        raise nx.PowerIterationFailedConvergence(max_iter)
    values: dict[Node, float] = _by_node(G, found.values)
    return values


def katz_centrality(
    G: Graph,
    alpha: float = 0.1,
    beta: float | dict[Node, float] = 1.0,
    max_iter: int = 1000,
    tol: float = 1.0e-6,
    nstart: dict[Node, float] | None = None,
    normalized: bool = True,
    weight: str | None = None,
) -> dict[Node, float]:
    if G.vertices == 0:
        return {}
    constants: Any = _values(G, beta) if isinstance(beta, dict) else float(beta)
    start = _values(G, nstart)
    if max_iter < 1:
        raise nx.PowerIterationFailedConvergence(max_iter)
    found = G.katz(
        alpha=alpha,
        beta=constants,
        tolerance=tol,
        max_iterations=max_iter,
        start=start,
        normalized=normalized,
        weighted=weight is not None and G.weights is not None,
    )
    if not found.converged:
        raise nx.PowerIterationFailedConvergence(max_iter)
    values: dict[Node, float] = _by_node(G, found.values)
    return values


def hits(
    G: Graph, max_iter: int = 100, tol: float = 1.0e-8, nstart: Any = None, normalized: bool = True
) -> tuple[dict[Node, float], dict[Node, float]]:
    if G.vertices == 0:
        return {}, {}
    if max_iter <= 0:
        raise nx.PowerIterationFailedConvergence(max_iter)
    # networkx finds the singular vectors by ARPACK, to a relative tolerance; the iteration ends far below it.
    found = G.hits(tolerance=max(1e-4 * tol, 1e-13), max_iterations=100 * max_iter, weighted=G.weights is not None)
    if not found.converged or not found.hubs.any():
        raise UnsupportedError("no single largest singular value was found", "unsupported")
    return _by_node(G, found.hubs), _by_node(G, found.authorities)


def forceatlas2_layout(
    G: Graph,
    pos: Any = None,
    *,
    max_iter: int = 100,
    jitter_tolerance: float = 1.0,
    scaling_ratio: float = 2.0,
    gravity: float = 1.0,
    distributed_action: bool = False,
    strong_gravity: bool = False,
    node_mass: None = None,
    node_size: None = None,
    weight: Any = None,
    linlog: bool = False,
    seed: Any = None,
    dim: int = 2,
    store_pos_as: None = None,
) -> dict[Node, Array]:
    if G.vertices == 0:
        return {}
    random = nx.utils.create_random_state(seed)
    start = random.rand(G.vertices, 2).astype(np.float32).astype(np.float64)  # as nx.random_layout
    names = G.names(np.arange(G.vertices))
    if pos is not None:
        given = np.array([pos[node] for node in names if node in pos], dtype=np.float64)
        bounds = np.array(list(pos.values()), dtype=np.float64)
        low, high = bounds.min(axis=0), bounds.max(axis=0)
        start = low + start * (high - low)
        start[[node in pos for node in names]] = given
    found = G.layout(
        iterations=max_iter,
        start=start,
        jitter_tolerance=jitter_tolerance,
        scaling_ratio=scaling_ratio,
        gravity=gravity,
        strong_gravity=strong_gravity,
        linlog=linlog,
        dissuade_hubs=distributed_action,
        weighted=weight is not None and G.weights is not None,
    )
    return dict(zip(names, found.positions))


def _sampled(graph: Graph, k: int, seed: Any) -> list[Node]:
    nodes: list[Node] = nx.utils.create_py_random_state(seed).sample(graph.names(np.arange(graph.vertices)), k)
    return nodes


def betweenness_centrality(
    G: Graph, k: int | None = None, normalized: bool = True, weight: None = None, endpoints: bool = False, seed: Any = None
) -> dict[Node, float]:
    if k is None:
        values = G.betweenness(normalization="pairs" if normalized else "none", endpoints=endpoints)
    else:
        nodes = _sampled(G, k, seed)
        values = G.betweenness(list(map(G.index, nodes)), normalization="none", endpoints=endpoints)
    result: dict[Node, float] = _by_node(G, values)
    if k is not None:
        options = {"normalized": normalized, "directed": G.directed, "endpoints": endpoints}
        result = _rescale(result, G.vertices, sampled_nodes=nodes, **options)
    return result


def _most_betweenness(own: int, other: int) -> float:
    """The largest betweenness in a bipartite graph, from the numbers of nodes on the node's side and on the other."""
    rounds, rest = divmod(own - 1, other)
    return (
        other**2 * (rounds + 1) ** 2 + other * (rounds + 1) * (2 * rest - rounds - 1) - rest * (2 * rounds - rest + 3)
    ) / 2


def bipartite_betweenness_centrality(G: Graph, nodes: Any) -> dict[Node, float]:
    values = betweenness_centrality(G, normalized=False)
    top = set(nodes)
    for part, other in ((top, set(values) - top), (set(values) - top, top)):
        most = _most_betweenness(len(part), len(other))
        for node in part:
            values[node] /= most
    return values


def edge_betweenness_centrality(
    G: Graph, k: int | None = None, normalized: bool = True, weight: None = None, seed: Any = None
) -> dict[tuple[Node, Node], float]:
    sources = np.repeat(np.arange(G.vertices), np.diff(G.offsets))
    if k is None:
        values = G.edge_betweenness(normalization="pairs" if normalized else "none")
    else:
        nodes = _sampled(G, k, seed)
        values = G.edge_betweenness(list(map(G.index, nodes)), normalization="none")
        if not G.directed:  # the sum over both directions
            forward, back = np.lexsort((G.indices, sources)), np.lexsort((sources, G.indices))
            other = np.empty_like(values)
            other[forward] = values[back]
            values = np.where(sources == G.indices, values, values + other)
    kept = slice(None) if G.directed else sources <= G.indices
    result = dict(zip(zip(G.names(sources[kept]), G.names(G.indices[kept])), values[kept].tolist()))
    if k is not None:
        result = _rescale(result, G.vertices, normalized=normalized, directed=G.directed, sampled_nodes=nodes)
    return result
