"""The examples run, with matplotlib where it is there."""

import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize("what", ["", "karate.el", "laplacian10.mtx"])
def test_pictures(what, tmp_path):
    pytest.importorskip("matplotlib")
    data = pathlib.Path(__file__).parents[3] / "datasets"
    picture = tmp_path / "pictures.png"
    name = str(data / what) if what else "gen:grid2d:n=20"
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "pictures.py"), name, str(picture)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("<spargo.Graph: ") and "rank 0.0" in done.stdout
    assert picture.read_bytes()[:4] == b"\x89PNG" and picture.stat().st_size > 5000
