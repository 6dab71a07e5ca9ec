"""GML and GraphML as networkx writes them."""

import gzip
import random

import networkx as nx
import pytest
import spargo

WRITERS = {"gml": nx.write_gml, "graphml": nx.write_graphml_xml}


def drawn(seed, names):
    rng = random.Random(seed)
    g = (nx.DiGraph if seed % 2 else nx.Graph)()
    nodes = [f'"{k}" <&ü>' if names else str(k * 7) for k in range(20)]
    g.add_nodes_from(nodes, size=1)
    for _ in range(40):
        u, v = rng.choice(nodes), rng.choice(nodes)
        g.add_edge(u, v, colour="a [ b ] \n c", **({"weight": rng.choice([0.5, 2.0, 1e300])} if seed % 3 else {}))
    return g


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("seed", range(12))
def test_networkxs_files_are_read(tmp_path, format, seed):
    g = drawn(seed, seed % 4 < 2)
    path = tmp_path / f"g.{format}"
    WRITERS[format](g, path)
    if seed % 5 == 0:
        (tmp_path / "g.gz").write_bytes(gzip.compress(path.read_bytes()))
        path = tmp_path / "g.gz"
    try:
        read = spargo.Graph.read(path)
    except spargo.UnsupportedError as e:
        pytest.skip(str(e))
    assert read.directed == g.is_directed() and (read.weights is not None) == (seed % 3 > 0)
    ids = read.ids.tolist()
    assert sorted(map(str, ids)) == sorted(g)
    weights = [None] * read.indices.size if read.weights is None else read.weights.tolist()
    got = {(str(ids[u]), str(ids[v])): w for u, v, w in zip(read._sources(), read.indices.tolist(), weights)}
    want = {(u, v): d.get("weight") for u, v, d in g.edges(data=True)}
    if not g.is_directed():
        want.update({(v, u): w for (u, v), w in list(want.items())})
    assert got == want


def test_errors_have_their_place(tmp_path):
    path = tmp_path / "g.gml"
    path.write_text("graph [\n  node [ id 1 ]\n  edge [ source 1 target 2 ]\n]\n")
    with pytest.raises(spargo.Error, match="no node") as caught:
        spargo.Graph.read(path)
    assert (caught.value.file, caught.value.line, caught.value.column) == (str(path), 3, 3)
    with pytest.raises(spargo.Error, match="columns"):
        spargo.Graph.read(path, columns="1,2")
