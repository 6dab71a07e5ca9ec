import bz2
import gzip
import io
import os
import pathlib
import re
import warnings

import numpy as np
import pytest
import scipy.io
import spargo
from conftest import INDICES, VALUES, random_matrix
from scipy import sparse

DATASETS = pathlib.Path(__file__).resolve().parents[3] / "datasets"
TEXT = "%%MatrixMarket matrix coordinate real general\n% a comment\n3 4 3\n1 2 1.5\n3 4 -2e10\n2 2 0.1\n"


def same(a, b):
    assert type(a) is type(b) and a.shape == b.shape and a.dtype == b.dtype
    if sparse.issparse(a):
        a, b = a.toarray(), b.toarray()
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", sorted(p.name for p in DATASETS.glob("*.mtx")))
def test_datasets_are_read_as_scipy_reads_them(name):
    path = DATASETS / name
    same(spargo.mmread(path), scipy.io.mmread(path, spmatrix=False))
    assert spargo.mminfo(path) == scipy.io.mminfo(path)
    dense = scipy.io.mmread(path, spmatrix=False)
    dense = dense.toarray() if sparse.issparse(dense) else dense
    np.testing.assert_array_equal(spargo.Matrix(str(path)).toarray(), dense)


@pytest.mark.parametrize("field", ["real", "integer", "complex", "pattern"])
@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric", "hermitian"])
@pytest.mark.parametrize("layout", ["coordinate", "array"])
def test_every_kind_of_file(layout, symmetry, field, tmp_path):
    if (field == "pattern" and (layout == "array" or symmetry not in ("general", "symmetric"))) or (
        symmetry == "hermitian" and field != "complex"
    ):
        pytest.skip("the format has no such file")
    value = {"real": "2.5", "integer": "-7", "complex": "1.5 -2", "pattern": ""}[field]
    zero = {"real": "0", "integer": "0", "complex": "0 0", "pattern": ""}[field]
    on_diagonal = zero if symmetry in ("skew-symmetric", "hermitian") else value
    if layout == "coordinate":
        lines = ["3 3 2", f"2 1 {value}", f"3 2 {value}"] + ([] if symmetry == "skew-symmetric" else [f"2 2 {on_diagonal}"])
        lines[0] = f"3 3 {len(lines) - 1}"
    else:
        lower = [(i, j) for j in range(3) for i in range(3) if symmetry == "general" or i > j or (i == j and symmetry != "skew-symmetric")]
        lines = ["3 3"] + [on_diagonal if i == j else value for i, j in lower]
    path = tmp_path / "a.mtx"
    path.write_text(f"%%MatrixMarket matrix {layout} {field} {symmetry}\n" + "\n".join(lines) + "\n")
    same(spargo.mmread(path), scipy.io.mmread(path, spmatrix=False))
    same(spargo.mmread(path, spmatrix=True), scipy.io.mmread(path, spmatrix=True))


def test_every_kind_of_source(tmp_path):
    want = scipy.io.mmread(io.StringIO(TEXT), spmatrix=False)
    plain, zipped, bzipped = tmp_path / "a.mtx", tmp_path / "a.mtx.gz", tmp_path / "a.mtx.bz2"
    plain.write_text(TEXT)
    with gzip.open(zipped, "wt") as f:
        f.write(TEXT)
    with bz2.open(bzipped, "wt") as f:
        f.write(TEXT)
    sources = [plain, str(plain), zipped, str(bzipped), io.BytesIO(TEXT.encode()), io.StringIO(TEXT)]
    sources += [gzip.open(zipped), bz2.open(bzipped), open(plain, "rb"), open(plain), gzip.open(zipped, "rt")]
    for source in sources:
        same(spargo.mmread(source), want)
    for source in [plain, zipped, bzipped, io.BytesIO(TEXT.encode()), io.StringIO(TEXT)]:
        assert spargo.mminfo(source) == (3, 4, 3, "coordinate", "real", "general")
    with pytest.raises(TypeError):
        spargo.mmread(3)


@pytest.mark.parametrize("dtype", VALUES)
def test_dtype(dtype):
    a = spargo.mmread(io.StringIO(TEXT), dtype=dtype)
    assert a.dtype == dtype and a.row.dtype == np.int32
    np.testing.assert_allclose(a.toarray(), scipy.io.mmread(io.StringIO(TEXT)).toarray(), rtol=1e-6)
    assert spargo.Matrix((a.data, (a.row, a.col)), shape=a.shape).dtype == dtype


def test_integers():
    text = "%%MatrixMarket matrix coordinate integer general\n1 2 2\n1 1 {}\n1 2 -3\n"
    exact = spargo.mmread(io.StringIO(text.format(2**53)))
    assert exact.dtype == np.int64 and exact.data.tolist() == [2**53, -3]
    for dtype in (np.int8, np.int32, np.float32, np.complex128):
        assert spargo.mmread(io.StringIO(text.format(100)), dtype=dtype).dtype == dtype
    assert spargo.mmread(io.StringIO(text.format(2**53 + 1))).data.tolist() == [2**53 + 1, -3]
    assert spargo.mmread(io.StringIO(text.format(2**53 + 1)), dtype=float).data[0] == 2.0**53
    with pytest.raises(spargo.Error, match="does not hold"):
        spargo.mmread(io.StringIO(text.format(200)), dtype=np.int8)
    with pytest.raises(NotImplementedError):
        spargo.mmread(io.StringIO(TEXT), dtype=np.int64)


def test_errors_say_where(tmp_path):
    path = tmp_path / "bad.mtx"
    path.write_text(TEXT.replace("3 4 -2e10", "3 5 -2e10"))
    with pytest.raises(spargo.Error, match="bad.mtx:5:3") as caught:
        spargo.mmread(path)
    assert isinstance(caught.value, ValueError)
    assert (caught.value.file, caught.value.line, caught.value.column) == (str(path), 5, 3)
    assert caught.value.code == "parse"
    with pytest.raises(spargo.Error, match="<BytesIO>:5:3") as caught:
        spargo.mmread(io.BytesIO(path.read_bytes()))
    assert caught.value.file == "<BytesIO>" and caught.value.line == 5
    with open(path, "rb") as f, pytest.raises(spargo.Error) as caught:
        spargo.mmread(f)
    assert caught.value.file == str(path)
    with pytest.raises(FileNotFoundError) as caught:
        spargo.mmread(tmp_path / "none.mtx")
    assert isinstance(caught.value, spargo.Error) and caught.value.file == str(tmp_path / "none.mtx")
    with pytest.raises(OSError):
        spargo.mmread(tmp_path)
    with pytest.raises(NotImplementedError):
        spargo.mmread(io.StringIO("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n"), dtype=float)
    import pickle

    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.file == caught.value.file


@pytest.mark.parametrize("dtype", [*VALUES, np.int32, np.int64, np.bool_])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_what_is_written_is_read_back_by_scipy(form, dtype, tmp_path):
    a = random_matrix(20, 31, seed=1, form=form, dtype=dtype if dtype in VALUES else np.float64)
    a = (a * 10).astype(dtype)
    for target in (tmp_path / "a.mtx", str(tmp_path / "a.mtx.gz"), io.BytesIO(), io.StringIO()):
        for comment in ("", "one\n two"):
            spargo.mmwrite(target, a, comment)
            source = target if isinstance(target, (str, pathlib.Path)) else type(target)(target.getvalue())
            back = scipy.io.mmread(source, spmatrix=False).astype(dtype)
            np.testing.assert_array_equal(back.toarray(), a.toarray())
            if not isinstance(target, (str, pathlib.Path)):
                target.seek(0), target.truncate()


@pytest.mark.parametrize("symmetry", ["symmetric", "skew-symmetric", "hermitian"])
def test_symmetry(symmetry, tmp_path):
    a = random_matrix(20, 20, seed=2, dtype=np.complex128)
    a = {"symmetric": a + a.T, "skew-symmetric": a - a.T, "hermitian": a + a.conj().T}[symmetry]
    path = tmp_path / "a.mtx"
    for asked in (None, symmetry):
        spargo.mmwrite(path, a, symmetry=asked)
        assert scipy.io.mminfo(path)[5] == symmetry
        np.testing.assert_array_equal(scipy.io.mmread(path).toarray(), a.toarray())
    spargo.mmwrite(path, a, symmetry="general")
    assert scipy.io.mminfo(path)[5] == "general"
    np.testing.assert_array_equal(spargo.mmread(path).toarray(), a.toarray())


def test_fields_and_dense(tmp_path, rng):
    path, a = tmp_path / "a.mtx", random_matrix(9, 7, seed=3)
    spargo.mmwrite(path, a, field="pattern")
    assert scipy.io.mminfo(path)[4] == "pattern"
    np.testing.assert_array_equal(scipy.io.mmread(path).toarray(), a.toarray() != 0)
    spargo.mmwrite(path, a, field="complex")
    assert scipy.io.mminfo(path)[4] == "complex"
    for dense in (rng.random((4, 3)), np.asfortranarray(rng.random((3, 4))), rng.random((6, 6))[::2, 1:], np.ones((0, 2))):
        spargo.mmwrite(path, dense)
        np.testing.assert_array_equal(spargo.mmread(path), dense)
        if dense.size > 0:  # SciPy 1.17's reader divides by the number of rows
            np.testing.assert_array_equal(scipy.io.mmread(path), dense)
    symmetric = rng.random((5, 5)) + 1j * rng.random((5, 5))
    whole = np.array([[1, -2], [2**53 + 1, 4]])
    for dense in (whole, whole.astype(np.uint64) // 2, symmetric + symmetric.T, symmetric - symmetric.T,
                  symmetric + symmetric.conj().T, whole + whole.T, whole - whole.T, whole.astype(float) + whole.T):
        for target in (path, io.StringIO(), io.BytesIO()):
            spargo.mmwrite(target, dense)
            back = scipy.io.mmread(target if target is path else type(target)(target.getvalue()))
            np.testing.assert_array_equal(back, dense)
    assert scipy.io.mminfo(path)[4:] == ("real", "symmetric")
    spargo.mmwrite(path, np.eye(3), symmetry="symmetric")
    assert scipy.io.mminfo(path)[5] == "symmetric"
    with pytest.raises(NotImplementedError):
        spargo.mmwrite(path, np.eye(3), precision=3)
    with pytest.raises(ValueError):
        spargo.mmwrite(path, np.ones((2, 3)), symmetry="symmetric")
    with pytest.raises(ValueError):
        spargo.mmwrite(path, a, field="quaternion")
    with pytest.raises(ValueError):
        spargo.mmwrite(path, np.eye(2), field="pattern")
    with pytest.raises(OSError):
        spargo.mmwrite(tmp_path / "none" / "a.mtx", a)


def test_edge_lists(tmp_path):
    text = "# from to weight\n7 3 1.5\n3 100 2\n7 7 0.25\n"
    edges = spargo.read_edgelist(io.StringIO(text))
    assert edges.sources.tolist() == [1, 0, 1] and edges.targets.tolist() == [0, 2, 1]
    assert edges.weights.tolist() == [1.5, 2, 0.25] and edges.ids.tolist() == [3, 7, 100]
    kept = spargo.read_edgelist(io.StringIO(text), ids="keep", weights="ignore")
    assert kept.sources.tolist() == [7, 3, 7] and kept.targets.tolist() == [3, 100, 7] and kept.weights is None
    path = tmp_path / "a.el.gz"
    with gzip.open(path, "wt") as f:
        f.write("1 2\n")
    assert spargo.read_edgelist(path).weights is None
    with pytest.raises(spargo.Error, match="no weights"):
        spargo.read_edgelist(path, weights="require")
    with pytest.raises(ValueError):
        spargo.read_edgelist(path, ids="sort")
    with pytest.raises(spargo.Error) as caught:
        spargo.read_edgelist(io.StringIO("1 2\n1 x\n"))
    assert caught.value.line == 2


@pytest.mark.parametrize("text, name", [
    ("0 1 9007199254740993\n1 2 1\n", "a.el"),
    ("%%MatrixMarket matrix coordinate integer general\n3 3 2\n1 2 9007199254740993\n2 3 1\n", "a.mtx"),
    ("p sp 3 2\na 1 2 9007199254740993\na 2 3 1\n", "a.gr"),
    ("3 2 1\n2 9007199254740993\n1 9007199254740993 3 1\n2 1\n", "a.graph"),
])
def test_integers_that_are_rounded_are_warned_of(text, name, tmp_path, recwarn):
    path = tmp_path / name
    path.write_text(text)
    with pytest.warns(spargo.InputWarning, match=f"{name}: 1 weight is an integer that float64"):
        spargo.Graph.read(path)
    if name == "a.el":
        with pytest.warns(spargo.InputWarning, match="1 weight is an integer that float64"):
            spargo.read_edgelist(path)
        spargo.read_edgelist(path, weights="ignore")
    spargo.Graph.read(path, weights=False)
    path.write_text(text.replace("9007199254740993", "9007199254740992"))
    spargo.Graph.read(path)
    assert not recwarn.list


@pytest.mark.parametrize("name, text", [
    ("u.el", "# Undirected graph: a\n1 2 3\n2 3 5\n3 2 4\n"),
    ("u.csv", "Source,Target,Type,Weight\n1,2,Undirected,3\n2,3,Undirected,4\n"),
    ("u.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 3\n3 2 4\n"),
    ("u.graph", "3 2 1\n2 3\n1 3 3 4\n2 4\n"),
])
def test_undirected_graphs_as_directed_ones(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    for g in (spargo.Graph.read(path, directed=True), spargo.Graph(spargo.Graph.read(path), directed=True)):
        assert g.directed and g.edges == 4
        assert [g.bfs(v).reached for v in range(3)] == [3, 3, 3]
        assert g.sssp(2).distances.tolist() == [7, 4, 0]


def test_names_above_names_are_warned_of(tmp_path, recwarn):
    path = tmp_path / "n.csv"
    path.write_text("Person A,Friend\nalice,bob\nbob,carol\n")
    said = re.escape(f"{path}: the first line, 'Person A', 'Friend', is read as an edge (columns='Person A,Friend' if it")
    for read in (spargo.read_edgelist, spargo.Graph.read, spargo.Graph):
        with pytest.warns(spargo.InputWarning, match=said) as caught:
            read(path)
        assert [w.filename for w in caught] == [__file__], "the line that called"
    assert spargo.Graph.read(path, columns="Person A,Friend").vertices == 3
    assert spargo.Graph.read(path, columns=(1, 2)).vertices == 5
    spargo.Graph.read(io.StringIO("alice,bob\nbob,carol\n"))
    assert not recwarn.list


def test_columns_of_two_kinds_are_warned_of(tmp_path, recwarn):
    path = tmp_path / "t.csv"
    path.write_text("user_id,item_id\n1,1\n1,2\n2,1\n")
    said = re.escape(
        f"{path}: 'user_id' and 'item_id' may number different things, but equal ids are one vertex "
        "(columns='user_id,item_id' if they are of one kind, columns='bip:user_id,item_id' keeps integers apart)"
    )
    for read in (spargo.read_edgelist, spargo.Graph.read, spargo.Graph):
        with pytest.warns(spargo.InputWarning, match=said):
            read(path)
    assert spargo.Graph.read(path, columns="user_id,item_id").vertices == 2
    apart = spargo.Graph.read(path, columns=("bip:user_id", "item_id"))
    assert apart.nodes.tolist() == [1, 2, 4, 5] and not apart.directed and apart.edges == 3
    assert apart.bipartition() is not None
    with pytest.raises(spargo.Error, match="expected integer ids"):
        spargo.Graph.read(path, columns="bip:user_id,item_id", ids="names")
    path.write_text("user_id,friend_of_user_id\n1,1\n1,2\n")
    spargo.Graph.read(path)
    assert not recwarn.list


def test_unused_numbers_are_warned_of(tmp_path, recwarn):
    path = tmp_path / "w.csv"
    path.write_text('source,target,"cost, usd",year\n1,2,0.5,1999\n2,3,4,2001\n')
    said = "columns of numbers not used as weights: 'cost, usd', 'year' (columns='source,target,3' uses 'cost, usd', "
    said = re.escape(f"{path}: {said}columns='source,target' none)")
    for read in (spargo.read_edgelist, spargo.Graph.read, spargo.Graph):
        with pytest.warns(spargo.InputWarning, match=said):
            read(path)
    with pytest.raises(spargo.Error, match="the edges have no weights; columns of numbers not used as weights: 'cost"):
        spargo.read_edgelist(path, weights="require")
    spargo.read_edgelist(path, weights="ignore")
    spargo.Graph.read(path, weights=False)
    spargo.Graph(path, weights=False)
    assert spargo.Graph.read(path, columns="source,target").weights is None
    assert spargo.Graph.read(path, columns="source,target,3").weights.tolist() == [0.5, 4]
    path.write_text(',"source","target","km"\n"1","7","8",2.5\n"2","8","9",1\n')
    with pytest.warns(spargo.InputWarning, match="not used as weights: 'km'.*'source,target,km' uses"):
        spargo.read_edgelist(path)
    path.write_text('"source","target","a, b"\n"1",7,8,2.5\n"2",8,9,1\n')  # with R's row names
    with pytest.warns(spargo.InputWarning, match=r"'source,target,4' uses 'a, b'"):
        spargo.read_edgelist(path)
    assert spargo.read_edgelist(path, columns="source,target,4").weights.tolist() == [2.5, 1]
    assert not recwarn.list


def test_columns_of_edge_lists(tmp_path):
    text = "id,source,target,weight\n0,10,20,1.5\n1,20,30,2.5\n"
    edges = spargo.read_edgelist(io.StringIO(text))
    assert edges.ids.tolist() == [10, 20, 30] and edges.weights.tolist() == [1.5, 2.5]
    for columns in ("target,source", ("target", "source"), (3, 2)):
        turned = spargo.read_edgelist(io.StringIO(text), ids="keep", columns=columns)
        assert turned.sources.tolist() == [20, 30] and turned.targets.tolist() == [10, 20] and turned.weights is None
    with pytest.raises(spargo.Error, match="no column is called 'a'"):
        spargo.read_edgelist(io.StringIO(text), columns="a,b")
    path = tmp_path / "gephi.csv"
    path.write_text("Source,Target,Type,Weight\n1,2,Undirected,0.5\n2,3,Undirected,0.25\n")
    graph = spargo.Graph.read(path)
    assert not graph.directed and graph.edges == 2
    assert spargo.Graph.read(path, directed=True).edges == 4
    assert spargo.Graph.read(path, columns=("Source", "Target")).nodes.tolist() == [1, 2, 3]


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("index", INDICES)
def test_snapshots(index, dtype, tmp_path):
    path = tmp_path / "a.spg"
    a = random_matrix(20, 31, seed=4, dtype=dtype, index=index)
    spargo.save(path, a)
    back = spargo.load(path)
    assert isinstance(back, spargo.Matrix) and back.dtype == dtype
    assert back.to_scipy().indices.dtype == index and not back.to_scipy().data.flags.writeable
    np.testing.assert_array_equal(back.toarray(), a.toarray())
    np.testing.assert_array_equal(spargo.Matrix(path) @ np.ones(31, dtype), back @ np.ones(31, dtype))
    os.remove(path)  # it stays mapped
    np.testing.assert_array_equal(back.toarray(), a.toarray())


def test_snapshots_of_graphs(tmp_path):
    path = tmp_path / "g.spg"
    g = spargo.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    spargo.save(path, g)
    back = spargo.load(path)
    assert isinstance(back, spargo.Graph) and not back.directed and back.edges == 3
    weighted = spargo.Graph.from_edges([0, 1, 2], [1, 2, 3], [0.5, 1, 2])
    spargo.save(path, weighted)
    back = spargo.Graph.read(path)
    assert back.directed and back.weights.tolist() == [0.5, 1, 2]
    path.write_bytes(b"spargo is not this")
    with pytest.raises(spargo.Error):
        spargo.load(path)


def test_generated():
    a = spargo.generate("gen:laplacian2d:n=4")
    want = scipy.sparse.diags_array([4.0] * 16).toarray()
    for i in range(16):
        for j in (i - 4, i + 4, *([i - 1] if i % 4 else []), *([i + 1] if i % 4 < 3 else [])):
            if 0 <= j < 16:
                want[i, j] = -1
    np.testing.assert_array_equal(a.toarray(), want)
    assert spargo.generate("gen:path:n=3", dtype=np.complex64).dtype == np.complex64
    with pytest.raises(spargo.Error, match="nonsense"):
        spargo.generate("gen:nonsense:n=3")
    with pytest.raises(NotImplementedError):
        spargo.generate("gen:path:n=3", dtype=int)


def test_ids_with_leading_zeros_are_warned_of(tmp_path):
    path = tmp_path / "z.csv"
    path.write_text("source,target\n1,2\n2,007\n7,1\n")
    said = "line 3: vertex id 007 is read as 7, and both are one vertex"
    with pytest.warns(spargo.InputWarning, match=said):
        assert spargo.Graph.read(path).vertices == 3
    with pytest.warns(spargo.InputWarning, match=said):
        assert list(spargo.read_edgelist(path).ids) == [1, 2, 7]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(spargo.Graph.read(path, ids="names").ids) == ["1", "2", "007", "7"]
    path.write_text("".join(f"{k} {k + 1} 0.5 007\n" for k in range(1, 9000)) + "1 007 1 1\n")  # below 64 KiB
    for read in (spargo.Graph.read, spargo.read_edgelist):
        with pytest.warns(spargo.InputWarning, match="line 9000: vertex id 007 is read as 7, and both are one vertex"):
            read(path)
