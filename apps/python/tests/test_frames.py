"""Data frames by the Arrow PyCapsule interface, from a producer of our own; libraries: test_frame_libraries.py."""

import gc
import random
import struct
import threading
import uuid

import numpy as np
import pytest
import spargo
from arrow_producer import ArrayProducer, Column, Producer

INT_MAX = 2**63 - 1


def numbers(dtype, values):
    values = np.array(values, dtype)
    formats = {"int8": "c", "uint8": "C", "int16": "s", "uint16": "S", "int32": "i", "uint32": "I", "int64": "l", "uint64": "L"}
    return Column({**formats, "float32": "f", "float64": "g", "float16": "e"}[values.dtype.name], None, values)


def edges(g):
    """The edges by their ids, with weights."""
    ids = g.ids.tolist()
    values = [None] * g.indices.size if g.weights is None else g.weights.tolist()
    return sorted(zip((ids[v] for v in g._sources()), (ids[v] for v in g.indices.tolist()), values), key=repr)


def naive(rows, directed=True):
    """The same of rows (source, target, weight): distinct edges with their least weights."""
    least = {}
    for u, v, w in rows:
        for end in [(u, v)] if directed else [(u, v), (v, u)]:
            least[end] = w if least.get(end) is None else min(w, least[end])
    return sorted(((*ends, w) for ends, w in least.items()), key=repr)


def first_occurrence(rows):
    return list(dict.fromkeys(end for row in rows for end in row[:2]))


def random_rows(seed, name=lambda k: k, count=200):
    rng = random.Random(seed)
    return [(name(rng.randrange(60)), name(rng.randrange(60)), rng.choice([0.5, 1.0, 2.25, 7.0])) for _ in range(count)]


# --- A producer of our own


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_integers_of_every_width_are_ids(dtype):
    rows = random_rows(1, lambda k: 2 * k + 1)
    u, v, w = zip(*rows)
    g = spargo.Graph.from_arrow(Producer(["source", "target", "weight"], [numbers(dtype, u), numbers(dtype, v), numbers("float64", w)]))
    assert g.ids.tolist() == sorted({*u, *v}) and edges(g) == naive(rows)


@pytest.mark.parametrize("offsets", [np.int32, np.int64])
def test_strings_are_ids_in_order_of_occurrence(offsets):
    rows = random_rows(2, lambda k: "x" * (k % 17) + f"ü{k}")
    u, v, w = zip(*rows)
    table = Producer(["from", "to", "w"], [Column.text(u, offsets), Column.text(v, offsets), numbers("float32", w)])
    g = spargo.Graph.from_arrow(table)
    assert g.ids.tolist() == first_occurrence(rows) and edges(g) == naive(rows)


def test_ids_beyond_32_bits_and_sparse_ones():
    rows = [(2**40, 3, None), (INT_MAX, 2**40, None), (3, INT_MAX, None)]
    for dtype in ("int64", "uint64"):
        g = spargo.Graph.from_arrow(Producer(["u", "v"], [numbers(dtype, [r[k] for r in rows]) for k in (0, 1)]))
        assert g.ids.tolist() == [3, 2**40, INT_MAX] and edges(g) == naive(rows)


def test_integers_may_be_vertices():
    table = lambda: Producer(["u", "v"], [numbers("int32", [4, 0]), numbers("int32", [0, 2])])  # noqa: E731
    g = spargo.Graph.from_arrow(table(), vertices=6)
    assert g.vertices == 6 and g.nodes is None and edges(g) == [(0, 2, None), (4, 0, None)]
    with pytest.raises(spargo.Error):
        spargo.Graph.from_arrow(table(), vertices=3)
    with pytest.raises(spargo.Error, match="text"):
        spargo.Graph.from_arrow(Producer(["u", "v"], [Column.text("ab"), Column.text("bc")]), vertices=3)


@pytest.mark.parametrize("seed", range(20))
def test_batches_slices_and_dictionaries(seed):
    """Rows cut into batches at random, each column with an offset of its own, dictionaries that differ, unused entries."""
    rng = random.Random(seed)
    texts = seed % 2 == 0
    rows = random_rows(seed, (lambda k: f"n{k}" * rng.randrange(1, 2)) if texts else (lambda k: k * 10**10))
    cuts = sorted(rng.choices(range(len(rows) + 1), k=4))
    parts = [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)])]

    def column(values):
        pad = rng.randrange(4)
        if seed % 4 < 2:
            known = list(dict.fromkeys(values)) + (["unused"] if texts else [77])
            rng.shuffle(known)
            dictionary = Column.text(known) if texts else numbers("int64", known)
            keys = np.array([0] * pad + [known.index(value) for value in values], rng.choice(["int8", "uint16", "int32", "int64"]))
            first = column.kinds.setdefault(column.at, keys.dtype)
            return Column(numbers(first, []).format, None, keys.astype(first), offset=pad, dictionary=dictionary)
        made = Column.text(["?"] * pad + list(values)) if texts else numbers("int64", [5] * pad + list(values))
        made.offset, made.length = pad, len(values)
        return made

    column.kinds = {}
    batches = []
    for part in parts:
        made = []
        for at in (0, 1):
            column.at = at
            made.append(column([row[at] for row in part]))
        batches.append([*made, numbers("float64", [row[2] for row in part])])
    g = spargo.Graph.from_arrow(Producer(["source", "target", "weight"], *batches), directed=seed % 3 > 0)
    assert edges(g) == naive(rows, seed % 3 > 0)
    assert g.ids.tolist() == (first_occurrence(rows) if texts else sorted({end for row in rows for end in row[:2]}))


def test_the_offset_of_a_batch_counts():
    table = Producer(["u", "v"], [numbers("int64", [9, 0, 1, 2, 9]), numbers("int64", [9, 1, 2, 3, 9])])
    table.changed = {"offset": 1, "length": 3}
    assert edges(spargo.Graph.from_arrow(table)) == [(0, 1, None), (1, 2, None), (2, 3, None)]


def string_views(words):
    far = b"".join(word.encode() for word in words)
    views, at = b"", 0
    for word in words:
        text = word.encode()
        short = text.ljust(12, b"\0") if len(text) <= 12 else text[:4] + struct.pack("ii", 0, at)
        views, at = views + struct.pack("i", len(text)) + short, at + len(text)
    buffers = [None, np.frombuffer(views, np.uint8), np.frombuffer(far, np.uint8), np.array([len(far)], np.int64)]
    return Column("vu", *buffers, length=len(words))


def test_string_views():
    words = ["", "a", "twelve bytes", "thirteen byte", "a name that is much longer"]
    g = spargo.Graph.from_arrow(Producer(["u", "v"], [string_views(words), string_views(words[1:] + words[:1])]))
    assert g.ids.tolist() == words and g.edges == 5


def test_uuids():
    ids = [uuid.UUID(int=k * 7**40 % 2**128) for k in range(3)]
    key = b"ARROW:extension:name"
    metadata = struct.pack("i", 1) + struct.pack("i", len(key)) + key + struct.pack("i", 10) + b"arrow.uuid"
    bytes_of = lambda some: np.frombuffer(b"".join(i.bytes for i in some), np.uint8)  # noqa: E731
    columns = [Column("w:16", None, bytes_of(some), length=2, metadata=metadata) for some in (ids[:2], ids[1:])]
    g = spargo.Graph.from_arrow(Producer(["u", "v"], columns))
    assert g.ids.tolist() == ids and g.bfs(ids[0]).levels.tolist() == [0, 1, 2]
    for column in columns:
        column.metadata = None
    with pytest.raises(spargo.UnsupportedError, match="'u' is of type fixed-size binary"):
        spargo.Graph.from_arrow(Producer(["u", "v"], columns))


def test_a_table_may_be_one_array():
    made = ArrayProducer(["u", "v"], [numbers("int32", [0, 1]), numbers("int32", [1, 2])])
    g = spargo.Graph.from_arrow(made)
    assert g.edges == 2
    assert sorted(made.released).count("batch") == 1 and made.released.count("schema") == 1


@pytest.mark.parametrize("batches", [0, 1, 3])
def test_empty_tables(batches):
    for make in (lambda: numbers("int64", []), lambda: Column.text([])):
        empty = [make(), make()]
        table = Producer(["source", "target"], empty, *([[make(), make()] for _ in range(batches)]))
        for column in empty:  # as a producer without rows may have it
            column.buffers = [None] * len(column.buffers)
        g = spargo.Graph.from_arrow(table)
        assert (g.vertices, g.edges) == (0, 0) and g.ids.size == 0
    with pytest.raises(spargo.Error, match="a table of 0 columns"):
        spargo.Graph.from_arrow(Producer([], []))


# --- What is refused


@pytest.mark.parametrize("which", [0, 1, 2])
def test_nulls_are_refused_with_column_and_row(which):
    for texts in (False, True):
        batches = []
        for batch in range(2):
            made = [Column.text("abc") if texts else numbers("int64", [1, 2, 3]) for _ in range(2)] + [numbers("float64", [1, 2, 3])]
            if batch == 1:
                made[which].buffers[0] = np.array([0b011], np.uint8)
                made[which].null_count = -1
            batches.append(made)
        with pytest.raises(spargo.Error, match=f"column '{['source', 'target', 'weight'][which]}' is null in row 5"):
            spargo.Graph.from_arrow(Producer(["source", "target", "weight"], *batches))


def test_nulls_of_dictionaries_and_of_tables():
    values = Column.text(["a", "b", "c"])
    values.buffers[0] = np.array([0b101], np.uint8)
    keys = lambda some: Column("c", None, np.array(some, np.int8), dictionary=values)  # noqa: E731
    with pytest.raises(spargo.Error, match="'v' is null in row 2"):
        spargo.Graph.from_arrow(Producer(["u", "v"], [keys([0, 2, 0]), keys([0, 2, 1])]))
    assert spargo.Graph.from_arrow(Producer(["u", "v"], [keys([0, 2]), keys([2, 0])])).ids.tolist() == ["a", "c"]
    table = Producer(["u", "v"], [numbers("int8", [1, 2]), numbers("int8", [1, 2])])
    import ctypes

    bits = np.array([0b01], np.uint8)
    table.changed = {"buffers": (ctypes.c_void_p * 1)(bits.__array_interface__["data"][0])}
    with pytest.raises(spargo.Error, match="row 1 is null"):
        spargo.Graph.from_arrow(table)


@pytest.mark.parametrize("bad, dtype", [(-1, "int64"), (-7, "int32"), (2**63, "uint64")])
def test_ids_out_of_range_are_refused_with_column_and_row(bad, dtype):
    table = Producer(["u", "v"], [numbers(dtype, [1, 2]), numbers(dtype, [3, 4])], [numbers(dtype, [1, 2]), numbers(dtype, [3, bad])])
    with pytest.raises(spargo.Error, match=f"column 'v' is {bad} in row 3"):
        spargo.Graph.from_arrow(table)


@pytest.mark.parametrize(
    "format, name",
    [("b", "boolean"), ("z", "binary"), ("d:10,2", "decimal"), ("tdD", "date"), ("tsu:", "timestamp"), ("+l", "list"), ("n", "null"),
     ("+r", "run-end encoded"), ("?", "format '?'")],
)  # fmt: skip
def test_other_types_are_refused_by_name(format, name):
    column = Column(format, None, np.zeros(1, np.int64))
    with pytest.raises(spargo.UnsupportedError, match=f"'a' is of (type )?{name}".replace("?'", "\\?'")):
        spargo.Graph.from_arrow(Producer(["a", "b"], [column, numbers("int8", [1])]), "a", "b")
    with pytest.raises(spargo.Error, match="integer and 'b' of text"):
        spargo.Graph.from_arrow(Producer(["a", "b"], [numbers("int8", [1]), Column.text(["x"])]), "a", "b")
    if format != "g":
        with pytest.raises(spargo.UnsupportedError, match=r"'c' is of .* \(expected numbers\)"):
            spargo.Graph.from_arrow(Producer(["a", "b", "c"], [numbers("int8", [1]), numbers("int8", [1]), column]), "a", "b", "c")


def lies():
    ends = lambda: [numbers("int64", [0, 1, 2]), numbers("int64", [1, 2, 0])]  # noqa: E731

    def table(change=None, columns=ends, **batch):
        made = Producer(["u", "v"], columns())
        made.changed = batch
        if change:
            change(made)
        return made

    def of_column(**fields):
        return lambda made: made.batches[0][1].changed.update(fields)

    yield "more rows than a column", table(length=4)
    yield "a negative length", table(length=-1)
    yield "a negative offset", table(offset=-1)
    yield "a vast length", table(length=2**62)
    yield "a vast offset", table(offset=2**62)
    yield "fewer columns", table(n_children=1)
    yield "no columns' addresses", table(children=None)
    yield "no buffers' addresses", table(of_column(buffers=None))
    yield "fewer buffers", table(of_column(n_buffers=1))
    yield "a column that was released", table(of_column(release=None))
    yield "a column's negative offset", table(of_column(offset=-2))
    yield "a column's negative length", table(of_column(length=-1))
    yield "no values", table(lambda made: made.batches[0][1].buffers.__setitem__(1, None))
    yield "nulls that are not marked", table(of_column(null_count=1))

    def texts(change):
        column = Column.text(["ab", "c", "d"])
        change(column.buffers[1])
        return [column, Column.text("xyz")]

    yield "offsets that descend", table(columns=lambda: texts(lambda offsets: offsets.__setitem__(1, 9)))
    yield "a negative offset of a string", table(columns=lambda: texts(lambda offsets: offsets.__setitem__(0, -1)))

    def views(at, value):
        column = string_views(["a name of many bytes", "b", "c"])
        column.buffers[1] = np.frombuffer(column.buffers[1].tobytes(), np.int32).copy()
        column.buffers[1][at] = value
        return [column, string_views("abc")]

    yield "a view of no buffer", table(columns=lambda: views(2, 7))
    yield "a view of a negative buffer", table(columns=lambda: views(2, -1))
    yield "a view beyond its buffer", table(columns=lambda: views(3, 100))
    yield "a view before its buffer", table(columns=lambda: views(3, -5))
    yield "a negative length of a view", table(columns=lambda: views(0, -5))
    keys = lambda some: [  # noqa: E731
        Column("c", None, np.array(some, np.int8), dictionary=Column.text("pq")),
        Column("c", None, np.array([0, 1], np.int8), dictionary=Column.text("pq")),
    ]
    yield "a key beyond its dictionary", table(columns=lambda: keys([0, 2]))
    yield "a negative key", table(columns=lambda: keys([-1, 1]))
    yield "no dictionary", table(lambda made: made.batches[0][0].changed.update(dictionary=None), columns=lambda: keys([0, 1]))
    yield "no schema's children", table(lambda made: made.changed_schema.update(children=None))
    yield "a schema's negative count", table(lambda made: made.changed_schema.update(n_children=-1))


LIES = dict(lies())


@pytest.mark.parametrize("lie", LIES)
def test_a_table_that_contradicts_itself_is_refused(lie):
    with pytest.raises(spargo.Error, match="contradicts itself"):
        spargo.Graph.from_arrow(LIES[lie])


def test_a_column_is_no_table():
    made = Producer(["u"], [numbers("int64", [1])])
    made.changed_schema = {"format": b"l"}
    with pytest.raises(spargo.Error, match="a table is expected, and this is a column"):
        spargo.Graph.from_arrow(made)


def test_a_stream_that_fails():
    good = [numbers("int32", [0, 1]), numbers("int32", [1, 0])]
    made = Producer(["u", "v"], good, error=5)
    with pytest.raises(spargo.Error, match="failed after 2 rows: it broke"):
        spargo.Graph.from_arrow(made)
    assert {"batch", "array u", "array v", "schema", "stream"} <= set(made.released)
    with pytest.raises(spargo.Error, match="failed after 2 rows: Input/output error"):
        spargo.Graph.from_arrow(Producer(["u", "v"], good, error=5, message=None))


def test_what_is_no_table():
    for other in (5, "file.csv", [(1, 2)], np.zeros((2, 2))):
        with pytest.raises(TypeError, match="a table is expected"):
            spargo.Graph.from_arrow(other)

    class Odd:
        def __arrow_c_stream__(self, requested_schema=None):
            return 5

    class OddArray:
        def __arrow_c_array__(self, requested_schema=None):
            return 5, 6

    class Raises:
        def __arrow_c_stream__(self, requested_schema=None):
            raise RuntimeError("not today")

    for odd in (Odd(), OddArray()):
        with pytest.raises(spargo.Error, match="a capsule 'arrow_"):
            spargo.Graph.from_arrow(odd)
    with pytest.raises(RuntimeError, match="not today"):
        spargo.Graph.from_arrow(Raises())
    capsule = Producer(["u", "v"], [numbers("int8", [1]), numbers("int8", [2])]).__arrow_c_stream__()
    again = type("Again", (), {"__arrow_c_stream__": lambda self, requested_schema=None: capsule})()
    assert spargo.Graph.from_arrow(again).edges == 1
    with pytest.raises(spargo.Error, match="consumed before"):
        spargo.Graph.from_arrow(again)


# --- Columns


def test_columns_are_found_as_in_files():
    def graph(names, **options):
        values = [numbers("int64", [k, k + 1]) for k in range(len(names))]
        return spargo.Graph.from_arrow(Producer(names, values), **options)

    assert edges(graph(["To", "From"])) == [(1, 0, None), (2, 1, None)]
    assert edges(graph(["Weight", "dst", "SRC"])) == [(2, 1, 0), (3, 2, 1)]
    assert edges(graph(["a", "b", "c"])) == [(0, 1, 2), (1, 2, 3)]
    assert edges(graph(["a", "b", "c"], weights=False)) == [(0, 1, None), (1, 2, None)]
    assert edges(graph(["a", "b", "c"], source="c", target="a")) == [(2, 0, None), (3, 1, None)]
    assert edges(graph(["a", "b", "c"], source="c", target="a", weight="b")) == [(2, 0, 1), (3, 1, 2)]
    with pytest.warns(spargo.InputWarning, match="'cost'"):
        assert edges(graph(["source", "target", "cost"])) == [(0, 1, None), (1, 2, None)]
    assert edges(graph(["source", "target", "cost"], weight="cost")) == [(0, 1, 2), (1, 2, 3)]
    with pytest.warns(spargo.InputWarning, match=r"'user_id' and 'item_id' may number different things.*source='user_id', target='item_id' if"):
        assert edges(graph(["user_id", "item_id"])) == [(0, 1, None), (1, 2, None)]
    assert edges(graph(["user_id", "item_id"], source="user_id", target="item_id")) == [(0, 1, None), (1, 2, None)]
    for names, options, message in [
        (["source", "from", "target"], {}, "which is the source: 'source', 'from', 'target'"),
        (["id", "name", "c"], {}, "which are source and target"),
        (["a"], {}, "a table of 1 column"),
        (["a", "b"], {"source": "a"}, "together"),
        (["a", "b"], {"source": "a", "target": "x"}, "no column is called 'x'"),
        (["a", "a", "b"], {"source": "a", "target": "b"}, "several columns are called 'a'"),
        (["a", "b"], {"source": "a", "target": "a"}, "given twice"),
    ]:
        with pytest.raises(spargo.Error, match=message):
            graph(names, **options)


def test_a_column_may_say_the_direction():
    def graph(types, **options):
        ends = [numbers("int8", list(range(len(types)))), numbers("int8", [k + 1 for k in range(len(types))])]
        return spargo.Graph.from_arrow(Producer(["Source", "Target", "Type"], [*ends, Column.text(types)]), **options)

    assert not graph(["Undirected", "undirected"]).directed
    assert graph(["Directed"]).directed and graph(["likes"]).directed
    assert graph(["Undirected"], directed=True).directed
    with pytest.raises(spargo.Error, match="directed and undirected"):
        graph(["Directed", "Undirected"])


def test_weights_that_are_not_numbers_are_kept():
    w = [np.nan, np.inf, -np.inf, -0.0]
    g = spargo.Graph.from_arrow(Producer(["u", "v", "w"], [numbers("int8", [0, 1, 2, 3]), numbers("int8", [1, 2, 3, 0]), numbers("float64", w)]))
    np.testing.assert_array_equal(g.weights, w)
    with pytest.raises(spargo.Error):
        g.sssp(0)


# --- Memory


@pytest.mark.parametrize("number, of_weights", [("i", "f"), ("i", "g"), ("l", "f"), ("l", "g"), ("i", "i"), ("l", "l")])
def test_one_chunk_is_not_copied(number, of_weights, monkeypatch):
    types = {"i": np.int32, "l": np.int64, "f": np.float32, "g": np.float64}
    dtype = types[number]
    u, v, w = np.array([0, 1, 2], dtype), np.array([1, 2, 0], dtype), np.array([1.0, 2.0, 4.0], types[of_weights])
    seen = {}
    monkeypatch.setattr(spargo.Graph, "_built", classmethod(lambda cls, n, *arrays: seen.update(enumerate(arrays)) or (n, arrays)))
    spargo.Graph.from_arrow(Producer(["u", "v", "w"], [numbers(dtype, u), numbers(dtype, v), numbers(w.dtype, w)]))
    table = Producer(["u", "v", "w"], [Column(number, None, a) for a in (u, v)] + [Column(of_weights, None, w)])
    spargo.Graph.from_arrow(table)
    for k, mine in enumerate((u, v, w)):
        assert np.shares_memory(seen[k], mine) and seen[k].dtype == mine.dtype
        assert not seen[k].flags.writeable
    released = set(table.released)
    assert {"batch", "schema", "stream"} <= released and not {"array u", "array v", "array w"} & released
    seen.clear()
    gc.collect()
    assert {"array u", "array v", "array w"} <= set(table.released)


def test_memory_that_is_not_aligned_is_copied():
    raw = np.zeros(33, np.uint8)
    odd = raw[1:].view(np.uint8)
    odd[:] = np.array([0, 1, 2, 3], np.int64).view(np.uint8)
    column = Column("l", None, odd, length=4)
    g = spargo.Graph.from_arrow(Producer(["u", "v"], [column, numbers("int64", [1, 2, 3, 0])]))
    assert edges(g) == [(0, 1, None), (1, 2, None), (2, 3, None), (3, 0, None)]


def test_everything_is_released_once():
    for columns in ([Column.text("ab"), Column.text("bc"), numbers("int32", [1, 2])], [numbers("int16", [1, 2])] * 3):
        made = Producer(["u", "v", "unused"], columns, columns)
        g = spargo.Graph.from_arrow(made, "u", "v")
        assert g.edges == 2
        del g
        gc.collect()
        for what, times in {"stream": 1, "schema": 1, "batch": 2, "array u": 2, "array v": 2}.items():
            assert made.released.count(what) == times, what


def test_threads_may_read_and_export():
    rows = random_rows(5, lambda k: f"v{k}", 3000)
    u, v, w = zip(*rows)
    want, failures = naive(rows), []

    def work():
        try:
            for _ in range(5):
                g = spargo.Graph.from_arrow(Producer(["u", "v", "w"], [Column.text(u), Column.text(v), numbers("float64", w)]))
                assert edges(g) == want
                again = spargo.Graph.from_arrow(g.to_arrow())
                assert edges(again) == want
        except BaseException as e:  # noqa: BLE001
            failures.append(e)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# --- Results


def people():
    return spargo.Graph([("alice", "bob", 2.0), ("bob", "carol", 0.5), ("dan", "eve", 1.0)])


def test_results_are_tables_with_ids():
    g = people()
    found = g.bfs("alice").to_arrow()
    assert found.columns == ["id", "level", "parent"] and len(found) == 5
    assert repr(found) == "<spargo.Table: 5 rows of id, level, parent>"
    results = [
        g.bfs(0), g.multi_bfs([0, 1]), g.sssp(0), g.pagerank(), g.eigenvector(), g.katz(), g.hits(), g.triangles(), g.communities(),
        g.similarity(), g.shortest_path(0, 2), g._as(False).spanning_forest(), g._as(False).trusses(), g._as(False).biconnectivity(),
    ]  # fmt: skip
    sample = g.sample_neighbors(np.arange(5), [2])
    path = g.k_shortest_paths(0, 2, 1)[0]
    layout = g.layout(iterations=2)
    reached = {type(result) for result in (*results, sample, path, layout)}
    assert set(spargo._results.Result.__subclasses__()) == reached  # no result without a table
    assert len(sample.to_arrow()) > 0 and len(layout.to_arrow()) == 5 and len(path.to_arrow()) == 3
    for result in results:
        assert set(result._columns.values()) <= {(field, kind) for field in result._fields for kind in ("value", "vertex", "length")}
        table = result.to_arrow()
        assert len(table.columns) > 0 and "id" in table.columns or not result._by_vertex
        kind = type(result)
        assert isinstance(result, tuple) and kind(*result).to_arrow().columns == table.columns


def test_a_table_goes_round():
    looped = spargo.Graph([("ü", "ü", 2.0), ("日本", "ü", 1.0), ("", "日本", 3.0)], directed=False)
    few = spargo.Graph.from_edges([0, 5], [5, 1], [3, 4])
    for g in (people(), people()._as(False), looped, few, spargo.Graph("gen:grid2d:n=7")):
        again = spargo.Graph.from_arrow(g.to_arrow(), directed=g.directed)
        kept = {v for row in edges(g) for v in row[:2]}
        assert edges(again) == edges(g) and set(again.ids.tolist()) == kept
        assert spargo.Graph.from_arrow(ArrayOnly(g.to_arrow()), directed=g.directed).edges == g.edges


class ArrayOnly:
    def __init__(self, table):
        self.__arrow_c_array__ = table.__arrow_c_array__


def test_ids_that_are_no_text_are_written_as_text():
    g = spargo.Graph([("a\udcff", uuid.UUID(int=1)), ((1, 2), "a\udcff")])
    assert spargo.Graph.from_arrow(g.to_arrow()).ids.tolist() == ["a\\xff", str(uuid.UUID(int=1)), "(1, 2)"]


def test_the_tables_of_arrays():
    g = people()
    assert len(g.table()) == 5
    for bad, message in [({"a": [1, 2]}, "shape"), ({"id": [1] * 5}, "ids"), ({"a": ["x"] * 5}, "expected numbers")]:
        with pytest.raises(spargo.Error, match=message):
            g.table(**bad)
