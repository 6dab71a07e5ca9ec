# The compiled module, no interface. Arrays are contiguous vectors; where a function is there for several types, one
# signature stands for them. A library with CUDA takes DeviceVectors for them, too, and then returns these.
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Header = tuple[int, int, int, str, str, str]

version: str
has_cuda: bool

def cuda_devices() -> list[dict[str, str]]: ...
def cuda_reason() -> str: ...
def threads(threads: int = 0) -> int: ...
class DevicePlace:
    ordinal: int
    stream: int
    name: str
    def __init__(self, ordinal: int) -> None: ...
    def upload(self, array: Array, /) -> Any: ...
    def empty(self, size: int, dtype: str) -> Any: ...
    def borrow(self, address: int, size: int, dtype: str, owner: object) -> Any: ...
    def after(self, stream: int) -> None: ...
    def before(self, stream: int) -> None: ...

class ArrowTable:
    rows: int
    def __init__(self, table: Any, what: str) -> None: ...
    def columns(self) -> list[tuple[str, str, str, str]]: ...
    def read(self, columns: list[int]) -> None: ...
    def numbers(self, column: int) -> list[Array]: ...
    def names(self, columns: list[int], as_bytes: bool, threads: int) -> tuple[list[Array], Any]: ...

class ArrowExport:
    def __init__(self, rows: int, columns: list[tuple[str, str, int, list[Array | None]]]) -> None: ...
    def schema(self) -> Any: ...
    def array(self) -> Any: ...
    def stream(self) -> Any: ...

def number_ids(ids: Array, threads: int) -> tuple[Array, Array]: ...
def find_edge_columns(names: list[str]) -> tuple[int, int, int, bool, bool]: ...

Doubts = tuple[list[str], list[tuple[str, int]], list[tuple[str, int]], int, tuple[str, int]]

def mm_info(path: str) -> Header: ...
def mm_read(path: str, dtype: str, threads: int) -> tuple[Header, tuple[int, int, Array, Array, Array], int]: ...
def mm_read_csr(path: str, dtype: str, threads: int) -> tuple[int, int, Array, Array, Array]: ...
def mm_write(
    path: str, rows: int, cols: int, row_indices: Array, col_indices: Array, values: Array, symmetry: str, comment: str
) -> None: ...
def mm_write_pattern(
    path: str, rows: int, cols: int, row_indices: Array, col_indices: Array, symmetry: str, comment: str
) -> None: ...
def mm_write_array(path: str, a: Array, symmetry: str, comment: str) -> None: ...
def write_file(path: str, bytes: bytes) -> None: ...
def read_edges(
    path: str, columns: str, ids: str, threads: int
) -> tuple[int, Array, Array, Array | None, Array, bool, int, Doubts]: ...
def read_graph(
    path: str, columns: str, ids: str, threads: int
) -> tuple[int, Array, Array, Array | None, Array | None, bool, int, Doubts | None]: ...
def is_snapshot(path: str) -> bool: ...
def is_generator_spec(name: str) -> bool: ...
def is_symmetric_generator(spec: str) -> bool: ...
def load(
    path: str, threads: int
) -> tuple[int, int, Array, Array, Array | None, Array | None, bool, bool, bytes]: ...

class SnapshotExtras:
    def __init__(
        self,
        directed: bool = True,
        integers: bool = False,
        ids: Array | None = None,
        names: list[bytes] | None = None,
        notes: str = "",
    ) -> None: ...

def save(
    path: str,
    rows: int,
    cols: int,
    offsets: Array,
    indices: Array,
    values: Array | None,
    extras: SnapshotExtras,
    threads: int,
) -> None: ...
def generate(spec: str, dtype: str, threads: int) -> tuple[int, int, Array, Array, Array]: ...
def validate_csr(rows: int, cols: int, offsets: Array, indices: Array, threads: int) -> None: ...
def validate_coo(rows: int, cols: int, row_indices: Array, col_indices: Array, threads: int) -> None: ...
def coo_to_csr(
    rows: int, cols: int, row_indices: Array, col_indices: Array, values: Array, threads: int
) -> tuple[Array, Array, Array]: ...
def csr_transpose(
    rows: int, cols: int, offsets: Array, indices: Array, values: Array, threads: int
) -> tuple[Array, Array, Array]: ...
def csr_multiply(
    rows: int,
    cols: int,
    offsets: Array,
    indices: Array,
    values: Array,
    b_rows: int,
    b_cols: int,
    b_offsets: Array,
    b_indices: Array,
    b_values: Array,
    threads: int,
) -> tuple[Array, Array, Array]: ...
def csr_add(
    rows: int,
    cols: int,
    offsets: Array,
    indices: Array,
    values: Array,
    b_rows: int,
    b_cols: int,
    b_offsets: Array,
    b_indices: Array,
    b_values: Array,
    beta: float,
    threads: int,
) -> tuple[Array, Array, Array]: ...
def csr_extract(
    rows: int,
    cols: int,
    offsets: Array,
    indices: Array,
    values: Array,
    row_kind: str,
    first_row: int,
    last_row: int,
    row_list: Array,
    col_kind: str,
    first_col: int,
    last_col: int,
    col_list: Array,
    threads: int,
) -> tuple[Array, Array, Array]: ...
def pattern_transpose(rows: int, cols: int, offsets: Array, indices: Array, threads: int) -> tuple[Array, Array]: ...

class Product:
    algorithm: str
    storage: str
    reason: str
    def run(self, x: Array, y: Array) -> None: ...
    def run_many(self, x: Array, y: Array) -> None: ...
    def update_values(self, values: Array) -> None: ...

def solve(
    rows: int, offsets: Array, indices: Array, values: Array, b: Array, x: Array, method: str, preconditioner: str,
    block_size: int, triangular_sweeps: int, restart: int, tolerance: float, max_iterations: int, threads: int,
) -> tuple[int, float, str, str, str]: ...
def reorder(rows: int, offsets: Array, indices: Array, method: str, seed: int, threads: int) -> Array: ...
def svds(
    rows: int, cols: int, offsets: Array, indices: Array, values: Array, count: int, tolerance: float,
    max_products: int, seed: int, threads: int,
) -> tuple[list[float], list[float], Array, Array, bool, int]: ...
def spectral_embedding(
    rows: int, cols: int, offsets: Array, indices: Array, weights: Array, dimensions: int, normalized: bool,
    tolerance: float, max_products: int, seed: int, threads: int,
) -> tuple[list[float], list[float], Array, bool, int]: ...
def product(
    rows: int,
    cols: int,
    offsets: Array,
    indices: Array,
    values: Array,
    threads: int,
    algorithm: str,
    copy: bool,
    products: int,
) -> Product: ...
def graph(
    offsets: Array, indices: Array, in_offsets: Array | None, in_indices: Array | None, undirected: bool
) -> Any: ...
def csr_rows(vertices: int, offsets: Any, indices: Any) -> Any: ...
def build_graph(
    vertices: int, sources: Array, targets: Array, directed: bool, threads: int
) -> tuple[Array, Array, int]: ...
def build_weighted_graph(
    vertices: int,
    sources: Array,
    targets: Array,
    weights: Array,
    directed: bool,
    duplicates: str,
    keep_loops: bool,
    threads: int,
) -> tuple[Array, Array, Array]: ...
def local_clustering(counts: Array, degrees: Array, links: bool, threads: int) -> npt.NDArray[np.float64]: ...
def transitivity(total: int, degrees: Array) -> float: ...
