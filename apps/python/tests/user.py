"""What a user writes: a smoke test in bare environments, and the types that they see (mypy --strict)."""

import io
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import spargo
from scipy.sparse.linalg import cg
from spargo.csgraph import shortest_path

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:  # of Python 3.11

    def assert_type(value: Any, kind: Any) -> Any:
        return value


TEXT = "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 1 -1\n2 2 2\n3 3 1\n"


def main() -> None:
    a = spargo.Matrix(spargo.mmread(io.StringIO(TEXT)))
    assert_type(a.shape, tuple[int, int])
    assert_type(a.plan_reason, str)
    x = np.array([1.0, 2.0, 3.0])
    assert (a @ x).tolist() == [0.0, 3.0, 3.0]
    assert (a.T @ x).tolist() == [0.0, 3.0, 3.0]
    solution, failed = cg(spargo.aslinearoperator(a), x)
    assert failed == 0 and np.allclose(a @ solution, x)

    g = spargo.Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, 2.0, 0.5], directed=False)
    with spargo.config(threads=2):
        found = g.bfs(0)
        assert_type(found, spargo.Bfs)
        assert_type(found.reached, int)
        assert found.levels.tolist() == [0, 1, 1]
    assert g.sssp(0).distances.tolist() == [0.0, 1.0, 0.5]
    assert g.triangles().total == 1
    count, labels = g.connected_components()
    assert_type(count, int)
    assert count == 1 and labels.tolist() == [0, 0, 0]
    assert shortest_path(g, indices=0).tolist() == [0.0, 1.0, 0.5]
    named = spargo.Graph([("alice", "bob"), ("bob", "carol")])
    assert named.bfs("alice", target="carol").levels[named.index("carol")] == 2
    assert named.multi_bfs(["alice", "bob"]).reached.tolist() == [3, 2]
    assert named.pagerank(personalization={"alice": 1.0}).ranks.size == 3
    try:
        spargo.mmread(io.StringIO(TEXT.replace("3 3 1", "4 3 1")))
    except spargo.Error as e:
        assert_type(e.line, int)
        assert e.line == 6
    else:
        raise AssertionError("a row that is not there")
    print(f"spargo {spargo.__version__} in Python {sys.version.split()[0]}: {spargo.devices()[0]}")


if __name__ == "__main__":
    main()
