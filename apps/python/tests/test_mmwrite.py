"""Matrix Market files written from all kinds of arrays, and read again by SciPy and by us; and files on full disks."""

import bz2
import errno
import gzip
import io
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.io
import spargo
from scipy import sparse

DTYPES = [bool, *(np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)), np.float32, np.float64, np.complex64, np.complex128]
LEAST, MOST = -(2**63), 2**64 - 1


def random_array(rng, dtype, shape, symmetry):
    """With the ends of the type's range among its values, whose negatives wrap."""
    dtype = np.dtype(dtype)
    if dtype.kind in "biu":
        limits = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        a = rng.choice(np.array([0, 1, 2, *limits, limits[1] // 2], object) if dtype.kind != "b" else [0, 1], shape).astype(dtype)
    else:
        a = np.where(rng.random(shape) < 0.5, rng.standard_normal(shape), 0)
        a = (a * (1 - 2j) if dtype.kind == "c" else a).astype(dtype)
    with np.errstate(over="ignore"):
        if symmetry == "symmetric":
            a = np.triu(a) | np.triu(a, 1).T if dtype.kind == "b" else np.triu(a) + np.triu(a, 1).T
        elif symmetry == "skew" and dtype.kind != "b":
            a = np.triu(a, 1) - np.triu(a, 1).T  # unsigned ones wrap, and so does the least of the signed ones
        elif symmetry == "hermitian" and dtype.kind == "c":
            a = np.triu(a, 1) + np.triu(a, 1).conj().T + np.diag(np.diag(a).real)
    return a.astype(dtype)


def dense_of(a):
    return a.toarray() if sparse.issparse(a) else a


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_what_is_written_reads_as_it_was(dtype, tmp_path):
    rng = np.random.default_rng(5)
    for _ in range(60):
        rows = int(rng.integers(1, 7))
        symmetry = rng.choice(["none", "symmetric", "skew", "hermitian"])
        cols = int(rng.integers(1, 7)) if symmetry == "none" else rows
        a = random_array(rng, dtype, (rows, cols), symmetry)
        order = rng.choice(["C", "F", "strided", "swapped"])
        given = {
            "C": a,
            "F": np.asfortranarray(a),
            "strided": np.repeat(np.repeat(a, 2, 0), 2, 1)[::2, ::2],
            "swapped": a.astype(a.dtype.newbyteorder()),
        }[str(order)]
        for matrix in (given, sparse.coo_array(a), sparse.csr_array(a), sparse.csc_matrix(a)):
            path = tmp_path / "a.mtx"
            spargo.mmwrite(path, matrix, comment=str(rng.choice(["", "one\ntwo", "%"])))
            theirs = scipy.io.mmread(path, spmatrix=False)
            assert sparse.issparse(theirs) == sparse.issparse(matrix), (a, order)
            exact = dense_of(theirs).astype(a.dtype) if a.dtype.kind in "fc" else dense_of(theirs)
            np.testing.assert_array_equal(exact, a, err_msg=path.read_text())
            ours = spargo.mmread(path)
            np.testing.assert_array_equal(dense_of(ours), dense_of(theirs), err_msg=path.read_text())
            assert ours.dtype == theirs.dtype or a.dtype.kind == "f"
            assert spargo.mminfo(path) == scipy.io.mminfo(path)


def test_sums_of_small_integers_do_not_make_a_matrix_symmetric(tmp_path):
    """100 + 100 is -56 in int8, as at the mirrored place."""
    listed = np.array([100, 100, -56], np.int8), ([0, 0, 1], [1, 1, 0])
    spargo.mmwrite(tmp_path / "a.mtx", sparse.coo_array(listed, shape=(2, 2)))
    np.testing.assert_array_equal(spargo.mmread(tmp_path / "a.mtx").toarray(), [[0, 200], [-56, 0]])


def test_the_least_integer_has_no_negative(tmp_path):
    """-2^63 is its own negative in int64, so that the matrix seems skew-symmetric."""
    spargo.mmwrite(tmp_path / "a.mtx", sparse.csr_array([[0, LEAST, 1], [LEAST, 0, 0], [-1, 0, 0]], dtype=np.int64))
    assert spargo.mminfo(tmp_path / "a.mtx")[5] == "general"


def test_wide_integers_and_booleans_are_whole(tmp_path):
    for a in (np.ones((2, 5), int), np.ones((1, 9), bool), np.ones((3, 40), np.uint8)):
        spargo.mmwrite(tmp_path / "a.mtx", a)
        np.testing.assert_array_equal(spargo.mmread(tmp_path / "a.mtx"), a)


@pytest.mark.parametrize("values", [[2**53 + 1, LEAST, 2**63 - 1], [MOST, 2**53 + 1, 0], [2**63, 1, 2]])
@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz", "a.mtx.bz2"])
def test_integers_of_64_bits_are_exact(values, name, tmp_path):
    dtype = np.uint64 if max(values) > 2**63 - 1 else np.int64
    path, vector = tmp_path / name, np.array(values, dtype)
    along = np.arange(3)
    for a in (np.diag(vector), np.stack((vector, 0 * vector), 1), sparse.coo_array((vector, (along, along)))):
        for target in (path, io.BytesIO()):
            spargo.mmwrite(target, a)
            source = path if target is path else io.BytesIO(target.getvalue())
            back = spargo.mmread(source)
            assert back.dtype == dtype
            np.testing.assert_array_equal(dense_of(back), dense_of(a))
    field = spargo.mminfo(path)[4]
    assert field == ("integer" if dtype == np.int64 else "unsigned-integer")
    assert spargo.mmread(path, dtype=float).dtype == float
    with pytest.raises(spargo.Error, match="does not hold"):
        spargo.mmread(path, dtype=np.int32)
    if min(values) < 0 or max(values) > 2**63 - 1:
        with pytest.raises(spargo.Error, match="does not hold"):
            spargo.mmread(path, dtype=np.uint64 if min(values) < 0 else np.int64)


@pytest.mark.parametrize("symmetry", ["symmetric", "skew-symmetric"])
@pytest.mark.parametrize("layout", ["array", "coordinate"])
def test_exact_integers_are_mirrored(layout, symmetry):
    sign = -1 if symmetry == "skew-symmetric" else 1
    big = 2**60 + 1
    a = np.array([[0, sign * big, 3 * sign], [big, 0, 0], [3, 0, 0]])
    text = io.StringIO()
    spargo.mmwrite(text, a if layout == "array" else sparse.coo_array(a))
    assert spargo.mminfo(io.StringIO(text.getvalue()))[3:] == (layout, "integer", symmetry)
    np.testing.assert_array_equal(dense_of(spargo.mmread(io.StringIO(text.getvalue()))), a)


def test_stored_zeros_stay():
    a = sparse.coo_array(([0.0, 1.0], ([0, 2], [1, 2])), shape=(3, 3))
    text = io.StringIO()
    spargo.mmwrite(text, a)
    back = spargo.mmread(io.StringIO(text.getvalue()))
    assert back.nnz == 2 and (back.row.tolist(), back.col.tolist()) == ([0, 2], [1, 2])
    truth = sparse.coo_array((np.array([True, False, True]), ([0, 1, 1], [1, 0, 1])), shape=(2, 2))  # its pattern is symmetric
    spargo.mmwrite(text := io.StringIO(), truth)
    np.testing.assert_array_equal(spargo.mmread(io.StringIO(text.getvalue())).toarray(), truth.toarray())
    spargo.mmwrite(text := io.StringIO(), sparse.coo_array([[0, 1], [-1, 0]]), field="pattern")
    assert spargo.mminfo(io.StringIO(text.getvalue()))[4:] == ("pattern", "general")


def test_vectors_are_columns():
    for a in (np.arange(3), [1.5, 2.5], np.array([True, False]), sparse.coo_array(np.arange(3))):
        spargo.mmwrite(text := io.StringIO(), a)
        back = scipy.io.mmread(io.StringIO(text.getvalue()), spmatrix=False)
        np.testing.assert_array_equal(dense_of(back)[:, 0], dense_of(a))
        assert back.shape == (len(dense_of(a)), 1)


def test_what_cannot_be_written():
    for a, kind in (
        (np.array([[2**70]]), NotImplementedError),
        (np.array([["x"]]), NotImplementedError),
        (np.zeros((2, 2, 2)), spargo.Error),
    ):
        with pytest.raises(kind, match="mmwrite"):
            spargo.mmwrite(io.BytesIO(), a)
    for value in (np.nan, np.inf, 1e19):
        with pytest.raises(spargo.Error, match="64-bit integers"):
            spargo.mmwrite(io.BytesIO(), np.array([[value]]), field="integer")
    with pytest.raises(spargo.Error, match="skew-symmetric"):
        spargo.mmwrite(io.BytesIO(), np.array([[0, MOST], [1, 0]], np.uint64), symmetry="skew-symmetric")


@pytest.mark.parametrize("name, opened", [("a.mtx.gz", gzip.open), ("a.mtx.bz2", bz2.open)])
def test_compressed_names_are_compressed(name, opened, tmp_path):
    path = tmp_path / name
    for a, options in ((np.ones((4, 4), int), {}), (np.ones((4, 4)), {"comment": "x"}), (sparse.eye_array(3), {})):
        spargo.mmwrite(path, a, **options)
        with opened(path, "rt") as f:
            assert f.read().startswith("%%MatrixMarket matrix")
        np.testing.assert_array_equal(dense_of(spargo.mmread(path)), dense_of(a))


FULL = """
import resource, sys, signal
import numpy as np, spargo
from scipy import sparse
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond the limit then fails, as on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
inputs = [(np.arange(90000).reshape(300, 300), {}), (np.random.rand(300, 300), {"comment": "x"}),
          (np.random.rand(300, 300), {"symmetry": "symmetric"}), (np.ones((300, 300), bool), {}),
          (sparse.random_array((300, 300), density=0.9), {"comment": "x"}), (np.random.rand(300, 300), {})]
for a, options in inputs:
    try:
        spargo.mmwrite(sys.argv[1], a, **options)
    except spargo.FileError as e:
        print(e.errno, e.filename)
"""


def test_a_full_disk_leaves_the_old_file(tmp_path):
    for name in ("k.mtx", "k.mtx.bz2"):
        path = tmp_path / name
        path.write_text("precious")
        run = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        said = run.stdout.splitlines()
        assert len(said) == 6 or (name != "k.mtx" and said)  # compressed, some fit
        assert set(said) == {f"{errno.EFBIG} {path}"} and os.listdir(tmp_path) == [name]
        assert len(said) < 6 or path.read_text() == "precious"
        path.unlink()


def test_file_errors_are_oserrors(tmp_path):
    missing = tmp_path / "none.mtx"
    with pytest.raises(FileNotFoundError) as caught:
        spargo.mmread(missing)
    e = caught.value
    assert (e.errno, e.filename, e.strerror) == (errno.ENOENT, str(missing), os.strerror(errno.ENOENT))
    assert isinstance(e, spargo.MissingFileError) and e.file == str(missing)
    back = pickle.loads(pickle.dumps(e))
    assert (type(back), back.errno, back.filename, str(back)) == (type(e), e.errno, e.filename, str(e))
    with pytest.raises(spargo.FileError) as caught:
        spargo.mmread(tmp_path)
    assert caught.value.errno == errno.EISDIR
    with pytest.raises(FileNotFoundError) as caught:
        spargo.mmwrite(tmp_path / "none" / "a.mtx", np.eye(2))
    assert caught.value.errno == errno.ENOENT and caught.value.filename == str(tmp_path / "none" / "a.mtx")
    torn = tmp_path / "torn.mtx.gz"
    torn.write_bytes(gzip.compress(b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n")[:-6])
    with pytest.raises(spargo.FileError) as caught:
        spargo.mmread(torn)
    assert caught.value.errno is None and caught.value.filename == str(torn)


def test_a_name_with_a_nul_is_refused(tmp_path):
    good = tmp_path / "a.mtx"
    spargo.mmwrite(good, np.eye(2))
    bad = f"{good}\0.mtx"
    for call in (spargo.mmread, spargo.mminfo, spargo.Matrix, spargo.Graph.read, spargo.read_edgelist, spargo.load,
                 lambda p: spargo.mmwrite(p, np.zeros((1, 1))), lambda p: spargo.save(p, sparse.eye_array(2))):
        with pytest.raises(spargo.Error, match="NUL"):
            call(bad)
    np.testing.assert_array_equal(spargo.mmread(good), np.eye(2))
