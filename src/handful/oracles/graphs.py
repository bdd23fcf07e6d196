"""Graphs as compiled code reads them: from an edge list, a SciPy sparse matrix or a NetworkX graph."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from handful.errors import InvalidProblem
from handful.problem import Floats

Int32s = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Graph:
    """Directed edges, sorted by where they start: those of node i are `starts[i]` up to `starts[i + 1]`."""

    nodes: tuple[Hashable, ...]
    starts: npt.NDArray[np.int64]
    targets: Int32s
    weights: Floats

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return len(self.nodes)


def graph_of(
    graph: Any, probability: float | str | None, *, attribute: str = "probability", undirected: bool = False
) -> Graph:
    """The graph that the user gives, with a number per directed edge.

    `probability` is one number for all edges, "weighted" for 1 / in-degree of where an edge ends, or None where the
    edges carry their own: the third of (from, to, p), the entry of a matrix, the `attribute` of a NetworkX edge.
    An undirected edge becomes one in each direction.
    """
    own = probability is None
    if hasattr(graph, "tocoo"):
        nodes, heads, tails, weights = _of_matrix(graph)
    elif hasattr(graph, "edges") and hasattr(graph, "is_directed"):
        nodes, heads, tails, weights = _of_networkx(graph, attribute if own else None)
        undirected = undirected or not graph.is_directed()
    else:
        nodes, heads, tails, weights = _of_edges(graph, own)
    if len(heads) == 0:
        raise InvalidProblem("the graph has no edges: nothing could spread")
    if undirected:
        heads, tails = np.concatenate([heads, tails]), np.concatenate([tails, heads])
        weights = np.concatenate([weights, weights])
    if isinstance(probability, str):
        if probability != "weighted":
            raise InvalidProblem(f'probability must be a number, "weighted" or None, got {probability!r}')
        weights = 1.0 / np.bincount(tails, minlength=len(nodes))[tails]
    elif probability is not None:
        weights = np.full(len(heads), float(probability))
    bad = ~((weights >= 0) & (weights <= 1))
    if bad.any():
        at = int(np.argmax(bad))
        edge = f"{nodes[int(heads[at])]!r} to {nodes[int(tails[at])]!r}"
        raise InvalidProblem(f"the edge from {edge} has {weights[at]}: expected a number from 0 to 1")
    order = np.argsort(heads, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(heads, minlength=len(nodes)))])
    return Graph(nodes, starts.astype(np.int64), tails[order].astype(np.int32), weights[order].astype(np.float64))


_Parts = tuple[tuple[Hashable, ...], npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]


def _of_matrix(matrix: Any) -> _Parts:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidProblem(f"a graph is a square matrix, got one of shape {matrix.shape}")
    found = matrix.tocoo()
    weights = np.asarray(found.data, dtype=np.float64)
    return tuple(range(matrix.shape[0])), found.row.astype(np.int64), found.col.astype(np.int64), weights


def _of_networkx(graph: Any, attribute: str | None) -> _Parts:
    nodes = tuple(graph.nodes)
    position = {node: at for at, node in enumerate(nodes)}
    edges = list(graph.edges(data=True))
    weights = np.ones(len(edges))
    if attribute is not None:
        lacking = next((edge for edge in edges if attribute not in edge[2]), None)
        if lacking is not None:
            raise InvalidProblem(
                f"the edge from {lacking[0]!r} to {lacking[1]!r} has no attribute {attribute!r}: say which one holds "
                'the probability (attribute=), or give probability= a number or "weighted"'
            )
        weights = np.array([float(edge[2][attribute]) for edge in edges])
    heads = np.array([position[edge[0]] for edge in edges], dtype=np.int64)
    tails = np.array([position[edge[1]] for edge in edges], dtype=np.int64)
    return nodes, heads, tails, weights


def _of_edges(edges: Iterable[Any], own: bool) -> _Parts:
    """Nodes are numbered in the order they are first named."""
    try:
        rows = edges.tolist() if isinstance(edges, np.ndarray) else [tuple(edge) for edge in edges]
    except TypeError:
        raise InvalidProblem(
            f"a graph is a list of edges (from, to, probability), a sparse matrix or a NetworkX graph, got {edges!r}"
        ) from None
    length = 3 if own else 2
    short = next((row for row in rows if len(row) < length), None)
    if short is not None:
        wanted = "(from, to, probability); or give probability= for all of them" if own else "(from, to)"
        raise InvalidProblem(f"an edge is {wanted}, got {tuple(short)!r}")
    position: dict[Hashable, int] = {}
    for row in rows:
        for node in row[:2]:
            position.setdefault(node, len(position))
    heads = np.array([position[row[0]] for row in rows], dtype=np.int64)
    tails = np.array([position[row[1]] for row in rows], dtype=np.int64)
    weights = np.array([float(row[2]) for row in rows]) if own else np.ones(len(rows))
    return tuple(position), heads, tails, weights
