"""Graphs whose vertices have names."""

from io import StringIO

import numpy as np
import pytest

import spargo

PEOPLE = '"Doe, Jane",Roe,2\nRoe,Łukasz,0.5\n1,Roe,1\n'


def test_a_file_of_names_has_them_as_nodes(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    g = spargo.Graph.read(path)
    assert list(g.nodes) == ["Doe, Jane", "Roe", "Łukasz", "1"]
    assert g.bfs(0).levels.tolist() == [0, 1, 2, -1]
    edges = spargo.read_edgelist(path)
    assert edges.ids.tolist() == list(g.nodes)
    assert edges.weights.tolist() == [2, 0.5, 1]
    assert spargo.read_edgelist(path, ids="keep").sources.tolist() == ["Doe, Jane", "Roe", "1"]


def test_the_kind_of_ids_may_be_given():
    assert spargo.read_edgelist(StringIO("7 3\n3 5\n")).ids.tolist() == [3, 5, 7]
    assert spargo.read_edgelist(StringIO("7 3\n3 5\n"), kind="names").ids.tolist() == ["7", "3", "5"]
    assert list(spargo.Graph.read(StringIO("7 3\n"), ids="names").nodes) == ["7", "3"]
    with pytest.raises(spargo.Error, match="not a vertex id"):
        spargo.read_edgelist(StringIO("a b\n"), kind="integers")
    with pytest.raises(spargo.Error, match="3:3: 'x' is not a vertex id"):
        spargo.Graph.read(StringIO("1 2\n2 3\n3 x\n"))
    with pytest.raises(ValueError, match="ids"):
        spargo.Graph.read(StringIO("1 2\n"), ids="words")


def test_bytes_that_are_no_utf8_come_back(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_bytes(b"\xf8\xf9,b\n")
    assert [name.encode(errors="surrogateescape") for name in spargo.Graph.read(path).nodes] == [b"\xf8\xf9", b"b"]


@pytest.mark.parametrize("made", [list, np.array, lambda names: np.array(names, dtype=object)])
def test_from_edges_takes_names(made):
    g = spargo.Graph.from_edges(made(["b", "a", "b"]), made(["a", "c", "c"]), [1.0, 2.0, 4.0])
    assert g.nodes.tolist() == ["b", "a", "c"]
    assert g.sssp(0).distances.tolist() == [0, 1, 3]
    assert spargo.Graph.from_edges(made([]), made([])).vertices == 0


def test_names_beside_numbers_are_refused():
    with pytest.raises((TypeError, spargo.Error)):
        spargo.Graph.from_edges(np.array(["a", 1], dtype=object), ["b", "c"])
