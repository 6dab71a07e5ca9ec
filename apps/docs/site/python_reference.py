"""Pages of the Python package, which is imported for its list of names: python_reference.py PAGES."""

import inspect
import pathlib
import sys

import _spargo_networkx
import spargo

OWN_PAGES = ("Graph", "Matrix")


def title(text: str) -> str:
    return f"{text}\n{'=' * len(text)}\n\n"


def entries(kind: str, names: list[str]) -> str:
    members = "" if kind == "function" else "   :members:\n   :inherited-members: ValueError, OSError, tuple\n"
    return "".join(f".. auto{kind}:: spargo.{name}\n{members}\n" for name in names)


def main(pages: pathlib.Path) -> None:
    pages.mkdir(parents=True, exist_ok=True)
    names = [name for name in spargo.__all__ if name not in ("__version__", "csgraph")]
    classes = {name for name in names if inspect.isclass(getattr(spargo, name))}
    errors = {name for name in classes if issubclass(getattr(spargo, name), Exception)}
    kinds = [
        ("functions", "Functions", "function", [n for n in names if n not in classes]),
        ("results", "Results and settings", "class", [n for n in names if n in classes - errors and n not in OWN_PAGES]),
        ("errors", "Errors", "exception", [n for n in names if n in errors]),
    ]
    for name in OWN_PAGES:
        (pages / f"{name.lower()}.rst").write_text(title(f"spargo.{name}") + entries("class", [name]))
    for page, heading, kind, listed in kinds:
        (pages / f"{page}.rst").write_text(title(heading) + entries(kind, listed))
    (pages / "csgraph.rst").write_text(title("spargo.csgraph") + ".. automodule:: spargo.csgraph\n   :members:\n")
    functions = "".join(f"* ``{name}``\n" for name in _spargo_networkx.functions())
    (pages / "networkx.rst").write_text(
        title("The backend of networkx") + f"``nx.FUNCTION(graph, backend=\"spargo\")`` for these "
        f"{len(_spargo_networkx.functions())} functions; with ``nx.config.backend_priority = [\"spargo\"]`` without the "
        f"argument, and networkx runs what Spargo refuses.\n\n.. rst-class:: names\n\n{functions}"
    )
    toctree = "".join(f"   {page}\n" for page in ["graph", "matrix", "functions", "results", "errors", "csgraph", "networkx"])
    (pages / "index.rst").write_text(
        title("Python interface") + ".. automodule:: spargo\n\n:doc:`/apps/python/README` begins with examples.\n\n"
        f".. toctree::\n\n{toctree}"
    )


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
