"""What the tests of the networkx backend share."""

import networkx as nx
import numpy as np
import pytest


def graphs():
    yield nx.path_graph(6)
    yield nx.DiGraph([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
    yield nx.karate_club_graph()
    yield nx.gnm_random_graph(120, 160, seed=1)
    yield nx.gnm_random_graph(120, 400, seed=2, directed=True)
    yield nx.relabel_nodes(nx.gnm_random_graph(60, 90, seed=3), {v: f"n{v}" for v in range(60)})
    yield nx.MultiGraph([(0, 1), (0, 1), (1, 2), (3, 3), (4, 5)])
    yield nx.MultiDiGraph([(0, 1), (0, 1), (1, 2), (2, 0), (3, 3)])
    yield nx.DiGraph(nx.scale_free_graph(100, seed=2))


CASES = pytest.mark.parametrize("g", list(graphs()), ids=str)


def both(name, g, *args, **kwargs):
    """The function's result by networkx and by us, as far as iterators go."""
    function = getattr(nx, name)
    results = [function(g, *args, backend=b, **kwargs) for b in ("networkx", "spargo")]
    return [list(r) if hasattr(r, "__next__") else r for r in results]


def plain(result):
    """No numpy scalars anywhere."""
    if isinstance(result, dict):
        return all(plain(k) and plain(v) for k, v in result.items())
    if isinstance(result, (list, tuple, set)):
        return all(map(plain, result))
    return not isinstance(result, np.generic)
