"""Data frames of pandas, polars, pyarrow, DuckDB and Parquet files."""

import gc
import re
import uuid

import numpy as np
import pytest
import spargo
from test_frames import edges, first_occurrence, naive, numbers, people, random_rows


def test_pyarrow():
    pa = pytest.importorskip("pyarrow")
    rows = random_rows(11, lambda k: f"name {k}")
    u, v, w = zip(*rows)
    plain = pa.table({"source": u, "target": v, "weight": w})
    views = plain.cast(pa.schema([("source", pa.string_view()), ("target", pa.large_string()), ("weight", pa.float64())]))
    coded = plain.set_column(0, "source", plain["source"].dictionary_encode())
    chunks = pa.concat_tables([plain.slice(0, 30), plain.slice(0, 0), plain.slice(30)])
    for table in (plain, views, coded, chunks, chunks.to_batches()[0], pa.RecordBatchReader.from_batches(plain.schema, plain.to_batches())):
        whole = not isinstance(table, pa.RecordBatch)
        g = spargo.Graph.from_arrow(table)
        assert edges(g) == naive(rows if whole else rows[:30])

    def fails():
        yield plain.to_batches()[0]
        raise ValueError("the source is gone")

    with pytest.raises(spargo.Error, match="after 200 rows: .*the source is gone"):
        spargo.Graph.from_arrow(pa.RecordBatchReader.from_batches(plain.schema, fails()))
    with pytest.raises(spargo.Error, match="'target' is null in row 1"):
        spargo.Graph.from_arrow(pa.table({"source": [1, 2], "target": [2, None]}))
    with pytest.raises(spargo.UnsupportedError, match="'source' is of type dictionary of float64"):
        spargo.Graph.from_arrow(pa.table({"source": pa.array([1.0, 5.0]).dictionary_encode(), "target": [2, 3]}))
    g = people()
    found = pa.table(g.bfs("alice").to_arrow())
    assert found.to_pydict() == {
        "id": ["alice", "bob", "carol", "dan", "eve"],
        "level": [0, 1, 2, None, None],
        "parent": ["alice", "alice", "bob", None, None],
    }
    found.validate(full=True)
    ranks = g.pagerank().to_arrow()
    column = pa.table(ranks)["rank"].to_numpy()
    del ranks, g
    gc.collect()
    assert abs(column.sum() - 1) < 1e-6
    assert pa.record_batch(people().to_arrow()).num_rows == 3
    assert pa.schema(people().to_arrow()).names == ["source", "target", "weight"]
    distances = pa.table(spargo.Graph.from_edges([0, 2], [1, 3], [5, 6]).sssp(0).to_arrow())
    assert distances["distance"].to_pylist() == [0, 5, None, None] and distances["parent"].to_pylist() == [0, 0, None, None]


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"src": [10, 20], "dst": [20, 30]}), tmp_path / "edges.parquet")
    g = spargo.Graph.from_arrow(parquet.read_table(tmp_path / "edges.parquet"))
    assert g.ids.tolist() == [10, 20, 30]
    parquet.write_table(pa.table(g.pagerank().to_arrow()), tmp_path / "ranks.parquet")
    assert parquet.read_table(tmp_path / "ranks.parquet")["id"].to_pylist() == [10, 20, 30]


def test_polars():
    pl = pytest.importorskip("polars")
    rows = random_rows(12, lambda k: f"a name of some length {k}")
    frame = pl.DataFrame(rows, schema=["source", "target", "weight"], orient="row")
    for given in (frame, frame.with_columns(pl.col("source").cast(pl.Categorical)), pl.concat([frame[:50], frame[50:]], rechunk=False)):
        assert edges(spargo.Graph.from_polars(given)) == naive(rows)
    with pytest.raises(TypeError, match="collect"):
        if not hasattr(frame.lazy(), "__arrow_c_stream__"):
            spargo.Graph.from_polars(frame.lazy())
        else:
            raise TypeError("collect")
    with pytest.raises(TypeError, match="polars.DataFrame"):
        spargo.Graph.from_polars([1])
    found = pl.DataFrame(people().sssp("alice").to_arrow())
    assert found["distance"].to_list() == [0.0, 2.0, 2.5, None, None]
    assert found.join(pl.DataFrame({"id": ["eve"], "age": [30]}), on="id", how="inner")["age"].to_list() == [30]


def test_duckdb():
    duckdb = pytest.importorskip("duckdb")
    edges_of_it = duckdb.sql("select 'a' || (i % 7) as source, 'a' || (i * i % 7) as target, i::double as weight from range(100) t(i)")
    g = spargo.Graph.from_arrow(edges_of_it)
    assert edges(g) == naive([(f"a{i % 7}", f"a{i * i % 7}", float(i)) for i in range(100)])
    found = g.pagerank().to_arrow()  # noqa: F841  # DuckDB finds it by its name
    assert duckdb.sql("select count(*), round(sum(rank), 6) from found").fetchall() == [(7, 1.0)]
    ids = uuid.uuid4(), uuid.uuid4()
    pair = duckdb.sql(f"select '{ids[0]}'::uuid as source, '{ids[1]}'::uuid as target")
    assert list(map(str, spargo.Graph.from_arrow(pair).ids)) == list(map(str, ids))


def test_pandas():
    pd = pytest.importorskip("pandas")
    rows = random_rows(13, lambda k: f"v{k}")
    frame = pd.DataFrame(rows, columns=["source", "target", "weight"])
    coded = frame.astype({"source": "category"})
    odd = frame.set_index(pd.Index(range(7, 207)))
    for given in (frame, coded, odd, frame.astype({"source": object, "target": object})):
        for make in (spargo.Graph.from_pandas, spargo.Graph.from_arrow):
            g = make(given)
            assert edges(g) == naive(rows) and g.ids.tolist() == first_occurrence(rows)
    integers = pd.DataFrame({0: [5, 2**40], 1: [2**40, 5], 2: [1.5, 2.5]})
    assert edges(spargo.Graph.from_pandas(integers)) == naive([(5, 2**40, 1.5), (2**40, 5, 2.5)])
    assert edges(spargo.Graph.from_pandas(integers, 1, 0)) == naive([(5, 2**40, None), (2**40, 5, None)])
    nullable = integers.astype({0: "Int64", 1: "UInt64", 2: "Float64"})
    assert edges(spargo.Graph.from_pandas(nullable)) == naive([(5, 2**40, 1.5), (2**40, 5, 2.5)])
    objects = pd.DataFrame({"u": [uuid.UUID(int=1), (1, 2)], "v": [(1, 2), 3]})
    assert spargo.Graph.from_pandas(objects).ids.tolist() == [uuid.UUID(int=1), (1, 2), 3]
    for bad, message in [
        (pd.DataFrame({"u": ["a", None], "v": ["b", "c"]}), "'u' is null in row 1"),
        (pd.DataFrame({"u": pd.array([1, None], "Int64"), "v": [1, 2]}), "'u' is null in row 1"),
        (pd.DataFrame({"u": [1, 2], "v": [1, 2], "w": pd.array([None, 1.5], "Float64")}), "'w' is null in row 0"),
        (pd.DataFrame({"u": [1, -2], "v": [1, 2]}), "'u' is -2 in row 1"),
        (pd.DataFrame({"u": [1.0, 2.5], "v": [1, 2]}), "'u' is 2.5 in row 1 .expected an integer; those in float64 are exact below 9,007,199,254,740,992"),
        (pd.DataFrame({"u": np.array([1, 2.0**63], np.longdouble), "v": [1, 2]}), "'u' is 9.2.*e.18 in row 1 .expected an integer"),
        (pd.DataFrame({"u": pd.to_datetime(["2020-01-01"]), "v": [1]}), "'u' is of type datetime64"),
        (pd.DataFrame({"u": [[1]], "v": ["a"]}), "keys of a dict"),
    ]:
        with pytest.raises(spargo.Error, match=message):
            spargo.Graph.from_pandas(bad)
    with pytest.raises(TypeError, match="pandas.DataFrame"):
        spargo.Graph.from_pandas([1])
    assert spargo.Graph.from_pandas(pd.DataFrame({"source": [], "target": []}, dtype="int64")).vertices == 0


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_whole_numbers_in_columns_of_reals_are_ids(library, dtype):
    """As merges with missing rows leave them."""
    made_by = pytest.importorskip(library)
    make = made_by.table if library == "pyarrow" else made_by.DataFrame
    largest = 2.0 ** (np.finfo(dtype).nmant + 1) - 1

    def graph(u, v=(5, 7, 5), **options):
        return spargo.Graph.from_arrow(make({"u": np.array(u, dtype), "v": np.array(v), "w": [0.5, 1.5, 2.5]}), "u", "v", "w", **options)

    want = [(7, 5, 0.5), (int(largest), 7, 1.5), (0, 5, 2.5)]
    assert edges(graph([7, largest, -0.0])) == naive(want) and graph([7, largest, 0]).ids.dtype == np.int64
    assert graph([0, 1, 2], [1, 2, 0], vertices=4).vertices == 4
    assert edges(graph([7, largest, 0], np.array([5, 7, 5], np.float64))) == naive(want)
    for bad, shown in ((np.nan, "null"), (1.5, "1.5"), (np.inf, "inf"), (-1, "-1"), (largest + 1, f"{dtype(largest + 1)}")):
        with pytest.raises(spargo.Error, match=rf"column 'u' is {re.escape(shown)} in row 1 \(expected"):
            graph([0, bad, 2])


def test_merges_of_pandas():
    pd = pytest.importorskip("pandas")
    links = pd.DataFrame({"a": ["x", "y", "z"], "source": [1, 2, 3]})
    merged = links.merge(pd.DataFrame({"a": ["x", "y"], "target": [2, 3]}), how="left")
    assert merged["target"].dtype == float
    with pytest.raises(spargo.Error, match="column 'target' is null in row 2 .expected a value"):
        spargo.Graph.from_pandas(merged)
    assert edges(spargo.Graph.from_pandas(merged.dropna())) == naive([(1, 2, None), (2, 3, None)])
    assert edges(spargo.Graph.from_pandas(merged.dropna().astype({"target": "Float64", "source": "category"}))) == naive([(1, 2, None), (2, 3, None)])


def test_results_in_pandas():
    pd = pytest.importorskip("pandas")
    g = people()
    found = g.bfs("alice").to_pandas()
    assert found.index.name == "id" and found.index.tolist() == g.ids.tolist()
    assert found.loc["carol", "level"] == 2 and found["level"].isna().tolist() == [False] * 3 + [True] * 2
    assert found["level"].dtype == "Int32" and found["parent"].isna().sum() == 2
    assert g.to_pandas().values.tolist() == [["alice", "bob", 2.0], ["bob", "carol", 0.5], ["dan", "eve", 1.0]]
    frame = g.table(core=g.core_numbers(), rank=g.pagerank().ranks).to_pandas()
    assert list(frame.columns) == ["core", "rank"]
    ages = pd.DataFrame({"age": [30]}, index=["bob"])
    assert frame.join(ages)["age"].notna().tolist() == [False, True, False, False, False]
    assert np.isnan(g.sssp("alice").to_pandas().loc["eve", "distance"])


def test_a_graph_of_a_data_frame_is_that_of_its_columns():
    """Not of its cells: `Graph(frame)` finds source and target, and refuses what `from_pandas` refuses."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": [1, 2], "target": ["b", "c"], "weight": [0.5, 2.0], "source": ["a", "b"]})
    assert edges(spargo.Graph(frame)) == edges(spargo.Graph.from_pandas(frame)) == naive([("a", "b", 0.5), ("b", "c", 2.0)])
    assert not spargo.Graph(frame, directed=False, weights=False).directed
    assert spargo.Graph(frame, weights=False).weights is None
    with pytest.raises(spargo.Error, match="'source' is null in row 1"):
        spargo.Graph(pd.DataFrame({"source": ["a", None], "target": ["b", "c"]}))
    adjacency = pd.DataFrame([[0, 1, 0], [1, 0, 1], [0, 1, 0]], index=list("abc"), columns=list("abc"))
    with pytest.raises(spargo.Error, match="may be an adjacency matrix"):
        spargo.Graph.from_pandas(adjacency)
    assert spargo.Graph.from_pandas(pd.DataFrame([[0, 1], [1, 2]]), source=0, target=1).edges == 2
    pl = pytest.importorskip("polars")
    with pytest.raises(spargo.Error, match="'source' is null in row 1"):
        spargo.Graph(pl.DataFrame({"source": ["a", None], "target": ["b", "c"]}))
    assert edges(spargo.Graph(pl.DataFrame({"target": [20], "source": [10]}))) == [(10, 20, None)]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("ends", [np.int32, np.int64])
@pytest.mark.parametrize("weights", [np.float32, np.float64])
def test_columns_of_libraries_are_not_copied(library, ends, weights, monkeypatch):
    made_by = pytest.importorskip(library)
    columns = {"u": np.array([0, 1, 2], ends), "v": np.array([1, 2, 0], ends), "w": np.array([1.0, 2.0, 4.0], weights)}
    frame = made_by.table(columns) if library == "pyarrow" else made_by.DataFrame(columns)
    seen = {}
    monkeypatch.setattr(spargo.Graph, "_built", classmethod(lambda cls, n, *arrays: seen.update(enumerate(arrays)) or (n, arrays)))
    spargo.Graph.from_arrow(frame)
    for k, name in enumerate(columns):
        theirs = frame[name].chunk(0).to_numpy(zero_copy_only=True) if library == "pyarrow" else frame[name].to_numpy()
        assert np.shares_memory(seen[k], theirs) and seen[k].dtype == columns[name].dtype
