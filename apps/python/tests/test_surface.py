"""Every public name is there, with its arguments, types and documentation."""

import importlib
import inspect
import pathlib
import pickle

import pytest
import spargo

SIGNATURES = {
    "mmread": "source, *, spmatrix=False, dtype=None, device='cpu'",
    "mmwrite": "target, a, comment='', field=None, precision=None, symmetry=None",
    "mminfo": "source",
    "read_edgelist": "path, *, weights='auto', ids='renumber', columns=None, kind='auto'",
    "save": "path, a",
    "load": "path",
    "generate": "spec, *, dtype=<class 'numpy.float64'>",
    "devices": "",
    "config": "*, device=None, threads=None, arrays=None",
    "Matrix": "a, *, shape=None, dtype=None, device='auto', copy=False",
    "Matrix.update_values": "self, values=None",
    "aslinearoperator": "a",
    "reorder": "a, method='rcm', *, seed=1",
    "solve": "a, b, *, method='auto', preconditioner='auto', tolerance=1e-08, max_iterations=None, guess=None, block_size=8, restart=50, triangular_sweeps=0",
    "svds": "a, k=6, *, which='LM', tol=0.0, return_singular_vectors=True, max_products=100000, seed=0",
    "spectral_embedding": "a, dimensions=2, *, normalized=True, tolerance=1e-08, max_products=100000, seed=0",
    "fiedler_vector": "a, *, normalized=False, tolerance=1e-08, max_products=100000, seed=0",
    "Graph": "a, *, directed=None, weights=True, device='auto'",
    "Graph.from_scipy": "a, *, directed=True, weights=True, device='auto'",
    "Graph.from_edges": "sources, targets, weights=None, *, vertices=None, directed=True, duplicates='min', device='auto'",
    "Graph.from_arrow": "table, source=None, target=None, weight=None, *, directed=None, weights=True, vertices=None, duplicates='min', "
    "device='auto'",
    "Graph.table": "self, **columns",
    "Graph.from_networkx": "g, *, weight=None, device='auto'",
    "Graph.read": "source, *, directed=None, weights=True, device='auto', columns=None, ids='auto'",
    "csgraph.johnson": "csgraph, directed=True, indices=None, return_predecessors=False, unweighted=False",
    "csgraph.laplacian": "csgraph, normed=False, return_diag=False, use_out_degree=False, *, copy=True, form='array', dtype=None, "
    "symmetrized=False",
    "csgraph.reverse_cuthill_mckee": "graph, symmetric_mode=False",
}
METHODS = {
    "Matrix": "T shape dtype nnz device plan_reason to_scipy update_values prepare __matmul__ __rmatmul__ __add__ __sub__ __mul__ __getitem__ _repr_html_",
    "Graph": "bfs bfs_order multi_bfs sssp spanning_forest pagerank eigenvector katz hits connected_components betweenness edge_betweenness closeness eccentricities triangles clustering "
    "topological_levels find_cycle bipartition find_odd_cycle biconnectivity subgraph k_hop_neighborhood ego_graph reverse "
    "complement has_path shortest_path k_shortest_paths path_lengths all_distances transitivity communities random_walks sample_neighbors core_numbers k_core layout coloring independent_set matching bipartite_matching trusses k_truss to_scipy vertices edges degrees neighbours device _repr_html_ "
    "ids table to_arrow to_pandas to_networkx from_pandas from_polars",
    "Table": "columns to_pandas __len__ __arrow_c_schema__ __arrow_c_array__ __arrow_c_stream__",
    "Error": "file line column",
    "csgraph": "breadth_first_order breadth_first_tree depth_first_order depth_first_tree laplacian shortest_path dijkstra connected_components reverse_cuthill_mckee "
    "floyd_warshall bellman_ford johnson yen minimum_spanning_tree maximum_bipartite_matching structural_rank",
    "networkx.backend": "convert_from_nx convert_to_nx can_run should_run",
}


def found(name):
    thing = spargo
    for part in name.split("."):
        if part in ("csgraph", "networkx"):
            importlib.import_module(f"spargo.{part}")
        thing = getattr(thing, part)
    return thing


@pytest.mark.parametrize("name", SIGNATURES)
def test_arguments(name):
    parameters = inspect.signature(found(name)).parameters.values()
    text = str(inspect.Signature([p.replace(annotation=inspect.Parameter.empty) for p in parameters]))
    assert text == f"({SIGNATURES[name]})"


@pytest.mark.parametrize("name", METHODS)
def test_members(name):
    thing = found(name)
    if name == "Error":
        thing = spargo.Error("what")
    for member in METHODS[name].split():
        assert hasattr(thing, member) or member in getattr(thing, "__annotations__", {}), member


def public(module):
    for name in module.__all__:
        thing = getattr(module, name)
        if callable(thing):
            yield f"{module.__name__}.{name}", thing
        if inspect.isclass(thing):
            for member, value in inspect.getmembers(thing, inspect.isroutine):
                if not member.startswith("_") and getattr(value, "__module__", "").startswith("spargo"):
                    yield f"{module.__name__}.{name}.{member}", value


def test_everything_is_documented():
    short = []
    for module in (spargo, importlib.import_module("spargo.csgraph")):
        for name, thing in public(module):
            documentation = inspect.getdoc(thing) or ""
            assert documentation and documentation[0].isupper(), name
            arguments = [
                p for p in (inspect.signature(thing).parameters.values() if not inspect.isclass(thing) else []) if p.name != "self"
            ]
            if arguments and "Parameters\n---" not in documentation:
                short.append(name)
            for argument in arguments if "Parameters\n---" in documentation else []:
                assert argument.name in documentation, (name, argument.name)
    one_line = {"spargo.Graph.index", "spargo.Graph.names", "spargo.Graph.neighbours", "spargo.Matrix.matvec", "spargo.Matrix.rmatvec"}
    assert set(short) <= one_line


def test_errors_are_of_pythons_kinds():
    assert issubclass(spargo.Error, ValueError)
    assert issubclass(spargo.UnsupportedError, NotImplementedError) and issubclass(spargo.UnsupportedError, spargo.Error)
    assert issubclass(spargo.FileError, OSError) and issubclass(spargo.OutOfMemoryError, MemoryError)
    assert issubclass(spargo.DeviceError, RuntimeError) and issubclass(spargo.MissingFileError, FileNotFoundError)
    for kind in (spargo.Error, spargo.UnsupportedError, spargo.FileError, spargo.MissingFileError, spargo.DeviceError):
        assert f"{kind.__module__}.{kind.__name__}" == f"spargo.{kind.__name__}"  # as a traceback has it
        assert type(pickle.loads(pickle.dumps(kind("what")))) is kind


def test_the_types_are_in_the_package():
    assert (pathlib.Path(spargo.__file__).parent / "py.typed").exists()
    assert spargo.__version__.count(".") == 2
