"""The entry of the backend ``spargo``, which networkx loads when it is imported; it imports nothing else."""

from __future__ import annotations

import importlib.util
import pathlib
import re
from typing import Any

# A function of networkx's is a public function of a graph `G`, or a row above a method of `Graph`.
_FUNCTION = re.compile(r"^def ([a-z]\w*)\(\s*G: Graph|^    @in_networkx\(\"(\w+)\"", re.MULTILINE)


def functions() -> list[str]:
    """Names of networkx's functions that the backend has, from the package's text: importing it would load NumPy."""
    found = importlib.util.find_spec("spargo")
    assert found is not None and found.origin is not None
    folder = pathlib.Path(found.origin).parent
    texts = (file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.py")))
    return sorted(match[1] or match[2] for text in texts for match in _FUNCTION.finditer(text))


def get_info() -> dict[str, Any]:
    """The backend's entry in ``networkx.backend_info``."""
    return {
        "backend_name": "spargo",
        "project": "spargo",
        "package": "spargo",
        "short_summary": "Graph algorithms in parallel on CPUs and GPUs.",
        "functions": {name: {} for name in functions()},
        "default_config": {"smallest_graph": 10_000},  # vertices and edges, below which networkx is left to do it
    }
