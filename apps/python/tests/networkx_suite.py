"""networkx's own tests with the backend: they must pass, and the calls that ran natively are counted.

From the root of networkx's package, since its conftest.py is skipped elsewhere.
"""

import collections
import os
import pathlib
import sys

os.environ["NETWORKX_TEST_BACKEND"] = "spargo"
os.environ["NETWORKX_FALLBACK_TO_NX"] = "1"

import networkx as nx
import pytest
from spargo.networkx import FUNCTIONS, backend

# That run natively: 344,797 to 351,661 in six runs: the tests draw graphs, and shortest_path alone varied by 2,000 calls.
LEAST_CALLS = 344_000
# The tests call these with graphs that have names, with an empty graph, with neighbours of their own, and with paths.
UNTESTED = {"k_truss", "overall_reciprocity", "generic_bfs_edges", "local_reaching_centrality"}

calls = collections.Counter()


def counted(name, function):
    def call(*args, **kwargs):
        result = function(*args, **kwargs)
        calls[name] += 1
        return result

    return call


def main():
    # The instance, so that signatures of the class stay as they are.
    for name in FUNCTIONS:
        setattr(backend, name, counted(name, getattr(backend, name)))
    root = pathlib.Path(nx.__file__).parent
    os.chdir(root)
    status = pytest.main(
        ["-q", "-p", "no:cacheprovider", "--tb=short", f"--rootdir={root}", "-c", os.devnull, str(root), *sys.argv[1:]]
    )
    for name in sorted(FUNCTIONS):
        print(f"{calls[name]:8} {name}")
    print(f"{calls.total():8} calls ran natively, of {nx.__version__}'s tests")
    if calls.total() < LEAST_CALLS and not sys.argv[1:]:
        print(f"fewer than {LEAST_CALLS}")
        status = status or 1
    never = [name for name in FUNCTIONS if calls[name] == 0 and name not in UNTESTED]
    if never and not sys.argv[1:]:
        print("never natively:", *never)
        status = status or 1
    return status


if __name__ == "__main__":
    sys.exit(main())
