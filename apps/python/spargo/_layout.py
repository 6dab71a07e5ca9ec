"""Layouts: a method of `Graph`, and its result, drawn by matplotlib or on an interactive canvas."""

from __future__ import annotations

import base64
import html
import json
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._arrays import Array, dense, seed_number, whole
from ._centrality import Centrality
from ._config import threads
from ._errors import Error
from ._results import Result
from ._table import on_host

MOST_DRAWN = 100_000  # edges; an even part of more is drawn
PALETTE = ["#1f77b4", "#e67814", "#2c963c", "#c82832", "#825ab4", "#8c564b", "#d764af", "#5aa0c8", "#aaa51e", "#149696"]
OTHERS = "#969ba5"


class _Layout(NamedTuple):
    positions: Array


class Layout(Result, _Layout):
    """Result of `Graph.layout`. A notebook shows it as a canvas that can be moved and enlarged, without any network.

    Attributes
    ----------
    positions : ndarray of float64, shape (vertices, 2)
    """

    _by_vertex = True
    _columns = {"x": ("x", "value"), "y": ("y", "value")}
    _graph: Any = None

    @property
    def x(self) -> Array:
        """First coordinates."""
        x: Array = self.positions[:, 0]
        return x

    @property
    def y(self) -> Array:
        """Second coordinates."""
        y: Array = self.positions[:, 1]
        return y

    def _edges(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
        """The ends of the edges that are drawn, and all degrees."""
        offsets, indices = on_host(self._graph.offsets), on_host(self._graph.indices)
        lengths = np.diff(offsets)
        sources = np.repeat(np.arange(lengths.size), lengths)
        kept = np.flatnonzero(sources != indices if self._graph.directed else sources < indices)
        degrees = np.bincount(sources[kept], minlength=lengths.size) + np.bincount(indices[kept], minlength=lengths.size)
        if kept.size > MOST_DRAWN:
            kept = kept[np.linspace(0, kept.size - 1, MOST_DRAWN).astype(np.int64)]
        return sources[kept], indices[kept], degrees

    def _colors(self, groups: Any) -> tuple[npt.NDArray[np.int64], list[str]]:
        """A colour's number for each vertex: the largest groups have their own."""
        size = self.positions.shape[0]
        if groups is None:
            return np.zeros(size, dtype=np.int64), PALETTE[:1]
        labels = np.asarray(on_host(groups))
        if labels.shape != (size,):
            raise Error(f"layout: {labels.shape} groups for {size} vertices (expected one each)")
        _, group, counts = np.unique(labels, return_inverse=True, return_counts=True)
        rank = np.empty(counts.size, dtype=np.int64)
        rank[np.argsort(-counts, kind="stable")] = np.arange(counts.size)
        return np.minimum(rank[group], len(PALETTE)), [*PALETTE, OTHERS]

    def draw(self, ax: Any = None, *, groups: npt.ArrayLike | None = None, size: float | None = None) -> Any:
        """Draws the graph by matplotlib, which must be installed.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            By default those of a new figure.
        groups : array_like, shape (vertices,), optional
            Such as communities: the ten largest have colours of their own.
        size : float, optional
            Area of a vertex of mean degree, in square points.

        Returns
        -------
        matplotlib.axes.Axes
        """
        import matplotlib.pyplot as plt  # type: ignore[import-not-found,unused-ignore]
        from matplotlib.collections import LineCollection  # type: ignore[import-not-found,unused-ignore]

        if ax is None:
            _, ax = plt.subplots(figsize=(8, 8))
        positions = on_host(self.positions)
        sources, targets, degrees = self._edges()
        color, palette = self._colors(groups)
        alpha = float(np.clip(12 / np.sqrt(max(sources.size, 1)), 0.02, 0.5))
        lines: Any = np.stack([positions[sources], positions[targets]], axis=1)
        ax.add_collection(LineCollection(lines, colors="#8c919b", linewidths=0.8, alpha=alpha, zorder=1))
        area = size or float(np.clip(20_000 / max(degrees.size, 1), 1, 120))
        areas = area * np.clip((degrees + 0.5) / max(float(degrees.mean()) if degrees.size else 1, 1), 0.4, 6)
        shades = np.array(palette)[color]
        order = np.argsort(degrees, kind="stable")
        ax.scatter(*positions[order].T, s=areas[order], c=shades[order], linewidths=0.4, edgecolors="white", zorder=2)
        ax.set_aspect("equal")
        ax.set_axis_off()
        ax.autoscale_view()
        return ax

    def to_html(self, *, groups: npt.ArrayLike | None = None, height: int = 600) -> str:
        """A page in itself: a canvas to be moved by dragging and enlarged by the wheel, with ids below the pointer.

        Parameters
        ----------
        groups : array_like, shape (vertices,), optional
            Such as communities: the ten largest have colours of their own.
        height : int, optional
            In pixels.

        Returns
        -------
        str
        """
        positions = on_host(self.positions)
        sources, targets, degrees = self._edges()
        color, palette = self._colors(groups)
        low, high = (positions.min(axis=0), positions.max(axis=0)) if positions.size else (np.zeros(2), np.ones(2))
        extent = float((high - low).max()) or 1.0
        radius = np.clip(np.sqrt((degrees + 0.5) / max(float(degrees.mean()) if degrees.size else 1, 1)), 0.6, 4)
        ids = np.arange(degrees.size) if self._ids is None else np.asarray(self._ids.all())
        data = {
            "at": _packed((positions - (low + high) / 2) / extent, "<f4"),
            "ends": _packed(np.stack([sources, targets], axis=1), "<u4"),
            "radius": _packed(radius, "<f4"),
            "color": _packed(color, "u1"),
            "palette": palette,
            "ids": None if np.array_equal(ids, np.arange(ids.size)) else [str(i) for i in ids.tolist()],
        }
        text = json.dumps(data).replace("<", "\\u003c")
        return PAGE.replace("@HEIGHT@", str(int(height))).replace("@DATA@", text)

    def _repr_html_(self) -> str:
        page = html.escape(self.to_html())
        return f'<iframe srcdoc="{page}" style="width:100%;height:620px;border:0" title="a graph"></iframe>'


class Layouts(Centrality):
    """The methods of `Graph` that place vertices."""

    __slots__ = ()

    def layout(
        self,
        *,
        iterations: int = 500,
        start: str | npt.ArrayLike = "multilevel",
        jitter_tolerance: float = 1.0,
        scaling_ratio: float = 2.0,
        gravity: float = 1.0,
        strong_gravity: bool = False,
        linlog: bool = False,
        dissuade_hubs: bool = False,
        weighted: bool = False,
        seed: int = 1,
    ) -> Layout:
        """Positions of the vertices in the plane by ForceAtlas2. Edges of a directed graph pull both ends.

        Parameters
        ----------
        iterations : int, optional
            Number of steps.
        start : {'multilevel', 'random'} or array_like, shape (vertices, 2), optional
            multilevel lays out contracted graphs first, which unfolds meshes and roads.
        jitter_tolerance : float, optional
            More is faster and less precise.
        scaling_ratio : float, optional
            Strength of the repulsion; more makes the layout sparser.
        gravity : float, optional
            Pull towards the mean of all positions.
        strong_gravity : bool, optional
            Gravity grows with the distance.
        linlog : bool, optional
            Edges pull by the logarithm of their length: denser clusters.
        dissuade_hubs : bool, optional
            Divides a vertex's attraction by its degree + 1.
        weighted : bool, optional
            Edges pull by their weights.
        seed : int, optional
            Of the random positions.

        Returns
        -------
        Layout

        Raises
        ------
        Error
            For options out of range, positions that are not finite, and weights that are negative or not finite.

        Notes
        -----
        The same bits for any number of threads. O(vertices + edges) per step.

        Examples
        --------
        >>> import spargo
        >>> g = spargo.Graph.from_edges([0, 1, 2], [1, 2, 0], directed=False)
        >>> g.layout(seed=2).positions.shape
        (3, 2)
        """
        positions = None
        if not isinstance(start, str):
            given = dense(start, "layout: start")
            if given.shape != (self.vertices, 2):
                raise Error(f"layout: start of shape {given.shape} for {self.vertices} vertices (expected 2 columns)")
            positions, start = self._argument(given.reshape(-1), np.dtype(np.float64)), "random"
        forces = (float(jitter_tolerance), float(scaling_ratio), float(gravity))
        kinds = (bool(strong_gravity), bool(linlog), bool(dissuade_hubs))
        count = whole(iterations, "layout: iterations", 0)
        found = self._ranked("layout", weighted, count, start, *forces, *kinds, seed_number(seed, "layout"), positions, threads())
        made = Layout.of(self, found.reshape(-1, 2))
        made._graph = self
        return made


def _packed(a: Any, dtype: str) -> str:
    return base64.b64encode(np.ascontiguousarray(a, dtype=dtype).tobytes()).decode()


PAGE = """<!doctype html><html><head><meta charset="utf-8"><style>
body{margin:0;background:#fff;font:13px sans-serif}canvas{width:100%;height:@HEIGHT@px;display:block;cursor:grab}
#id{position:absolute;pointer-events:none;background:#1c2028;color:#fff;padding:2px 6px;border-radius:3px;display:none}
</style></head><body><canvas></canvas><div id="id"></div><script>
const data = @DATA@;
const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer;
const at = new Float32Array(bytes(data.at)), ends = new Uint32Array(bytes(data.ends));
const radius = new Float32Array(bytes(data.radius)), color = new Uint8Array(bytes(data.color));
const canvas = document.querySelector("canvas"), tip = document.getElementById("id"), to = canvas.getContext("2d");
const n = radius.length, order = Array.from(radius.keys()).sort((a, b) => radius[a] - radius[b]);
let zoom = 1, x0 = 0, y0 = 0, drag = null, waiting = false;
const side = () => 0.92 * Math.min(canvas.clientWidth, canvas.clientHeight) * zoom;
const px = v => canvas.clientWidth / 2 + x0 + side() * at[2 * v];
const py = v => canvas.clientHeight / 2 + y0 - side() * at[2 * v + 1];
const size = v => radius[v] * Math.min(9, Math.max(0.8, 90 / Math.sqrt(n))) * Math.min(3, Math.sqrt(zoom));
function draw() {
  waiting = false;
  const scale = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  canvas.width = w * scale; canvas.height = h * scale;
  to.scale(scale, scale);
  const alpha = Math.min(0.5, Math.max(0.03, 12 / Math.sqrt(ends.length / 2 + 1)) * Math.sqrt(zoom));
  to.strokeStyle = `rgba(120,126,138,${alpha})`;
  for (let e = 0; e < ends.length; ) {
    to.beginPath();  // parts, so that lines that cross add up
    for (const last = Math.min(ends.length, e + 400); e < last; e += 2) {
      to.moveTo(px(ends[e]), py(ends[e])); to.lineTo(px(ends[e + 1]), py(ends[e + 1]));
    }
    to.stroke();
  }
  for (const v of order) {
    const x = px(v), y = py(v), r = size(v);
    if (x < -r || y < -r || x > w + r || y > h + r) continue;
    to.fillStyle = data.palette[color[v]];
    to.beginPath(); to.arc(x, y, r, 0, 7); to.fill();
    if (r > 2) { to.strokeStyle = "#fff"; to.lineWidth = 0.8; to.stroke(); }
  }
}
const redraw = () => { if (!waiting) { waiting = true; requestAnimationFrame(draw); } };
canvas.onpointerdown = e => { drag = [e.clientX - x0, e.clientY - y0]; canvas.setPointerCapture(e.pointerId); };
canvas.onpointerup = () => { drag = null; };
canvas.onpointermove = e => {
  if (drag) { x0 = e.clientX - drag[0]; y0 = e.clientY - drag[1]; redraw(); return; }
  let best = -1, least = 100;
  for (let v = 0; v < n; ++v) {
    const d = (px(v) - e.offsetX) ** 2 + (py(v) - e.offsetY) ** 2;
    if (d < least) { least = d; best = v; }
  }
  tip.style.display = best < 0 ? "none" : "block";
  if (best < 0) return;
  tip.textContent = data.ids ? data.ids[best] : best;
  tip.style.left = e.offsetX + 12 + "px"; tip.style.top = e.offsetY + 12 + "px";
};
canvas.addEventListener("wheel", e => {
  e.preventDefault();
  const by = Math.exp(-0.002 * e.deltaY);
  const x = e.offsetX - canvas.clientWidth / 2, y = e.offsetY - canvas.clientHeight / 2;
  x0 = x - (x - x0) * by; y0 = y - (y - y0) * by; zoom *= by; redraw();
}, {passive: false});
new ResizeObserver(redraw).observe(canvas);
</script></body></html>"""
