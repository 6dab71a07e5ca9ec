"""GML and GraphML that `spargo convert` writes, read by networkx."""

import os
import pathlib
import random
import shutil
import subprocess

import networkx as nx
import pytest
import spargo

READERS = {
    "gml": lambda path: nx.read_gml(path),
    "graphml": lambda path: nx.read_graphml(path),
}


@pytest.fixture(scope="module")
def convert():
    built = pathlib.Path(spargo._core.__file__).parents[2] / "bin" / "spargo"
    program = os.environ.get("SPARGO_COMMAND") or (built if built.exists() else shutil.which("spargo"))
    if program is None:
        pytest.skip("no command spargo (SPARGO_COMMAND names one)")

    def run(*arguments):
        done = subprocess.run([program, "convert", *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stderr

    return run


def drawn(seed):
    rng = random.Random(seed)
    g = rng.choice([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])()
    texts = ["a", "ü <&> \"q\" 'x'", "漢字", "[ ]", "#5", "x]]>y", "line\nbreak", "tab\there", "&amp;", "\U0001f600"]
    nodes = [f"{k} {rng.choice(texts)}" for k in range(rng.randrange(1, 9))]
    for node in nodes:
        g.add_node(node, town=rng.choice(texts), age=rng.randrange(-5, 99), ratio=rng.choice([0.5, -1.25, 1e300]))
    whole = rng.random() < 0.5
    for _ in range(rng.randrange(0, 20)):
        weight = rng.randrange(-9, 10**6) if whole else rng.choice([0.1, 2.5, -3.75, 1e-300])
        g.add_edge(rng.choice(nodes), rng.choice(nodes), weight=weight, kind=rng.choice(texts), since=rng.randrange(99))
    return g


def described(g):
    """Nodes and edges with all attributes, whatever the order and the keys of parallel edges."""
    ends = (lambda u, v: (u, v)) if g.is_directed() else (lambda u, v: tuple(sorted((u, v))))
    edges = sorted((ends(u, v), sorted((k, a) for k, a in d.items() if k not in ("id", "key"))) for u, v, d in g.edges(data=True))
    return g.is_directed(), {n: dict(d) for n, d in g.nodes(data=True)}, edges


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("before", READERS)
@pytest.mark.parametrize("after", READERS)
def test_documents_keep_everything(convert, tmp_path, seed, before, after):
    g = drawn(seed)
    (nx.write_gml if before == "gml" else nx.write_graphml_xml)(g, tmp_path / f"a.{before}")
    convert(tmp_path / f"a.{before}", tmp_path / f"b.{after}")
    assert described(READERS[after](tmp_path / f"b.{after}")) == described(g)


@pytest.mark.parametrize("after", READERS)
def test_of_tables(convert, tmp_path, after):
    (tmp_path / "edges.csv").write_text("Source,Target,Type,Id,Weight,kind\na,b,Undirected,7,2,x\nb,c,Undirected,8,3,\n")
    (tmp_path / "nodes.csv").write_text('Id,Label,size\na,"A, 1",1.5\nb,B,2\n')
    said = convert(tmp_path / "edges.csv", tmp_path / f"g.{after}", "--join", tmp_path / "nodes.csv")
    assert "no line for 1 of 3 vertices (the first: c)" in said
    g = READERS[after](tmp_path / f"g.{after}")
    assert not g.is_directed() and g.edges["a", "b"]["weight"] == 2 and g.edges["a", "b"]["kind"] == "x"
    assert "kind" not in g.edges["b", "c"] and g.nodes["c"] == {}
    label = "Label_2" if after == "gml" else "Label"
    assert g.nodes["a"] == {label: "A, 1", "size": 1.5}


@pytest.mark.parametrize("after", READERS)
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_of_matrices_and_generators(convert, tmp_path, after, ending):
    for source, directed in (("gen:grid2d:n=3", False), ("gen:uniform:rows=20,cols=20,degree=2", True)):
        path = tmp_path / f"g.{after}{ending}"
        convert(source, path)
        g = READERS[after](path)
        graph = spargo.Graph.from_scipy(spargo.generate(source), directed=directed)
        assert g.is_directed() == directed and len(g) == graph.vertices
        ids = sorted(map(int, g))
        assert ids == list(range(graph.vertices))
        pairs = {(int(u), int(v)) for u, v in nx.DiGraph(g.to_directed()).edges()}
        assert pairs == set(zip(graph._sources().tolist(), graph.indices.tolist()))
