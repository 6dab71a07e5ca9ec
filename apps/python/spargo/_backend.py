"""nanobind's compiled half, which `_core` looks for under this name: that of PyPI, unless a distribution has built its own."""

from nanobind_backend import fill  # type: ignore[import-untyped]

__all__ = ["fill"]
