"""Rows of networkx's functions that return what a method of `Graph` returns, one value for each node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])


class Row(NamedTuple):
    """A function of networkx's, the method that computes it, and the limits of ``spargo.networkx`` that it has."""

    function: str
    method: str
    limits: tuple[str, ...]


ROWS: list[Row] = []


def in_networkx(function: str, *limits: str) -> Callable[[Method], Method]:
    """Above a method that returns an array by vertex: networkx's function of this name returns it by node."""

    def add(method: Method) -> Method:
        ROWS.append(Row(function, method.__name__, limits))
        return method

    return add
