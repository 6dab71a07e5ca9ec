"""The blocks of code of the tutorials in Python, run in order as a reader runs them."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGES = [page for page in sorted(ROOT.glob("apps/docs/*/*.md")) if "```python" in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_of_a_page(page: pathlib.Path, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    runner = ROOT / "apps/docs/site/run_blocks.py"
    done = subprocess.run([sys.executable, runner, "--work", tmp_path, page], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_pages() -> None:
    assert {page.stem for page in PAGES} >= {"data_scientist", "numerical_analyst"}
