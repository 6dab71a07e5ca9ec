#!/usr/bin/env python3
"""The README's picture: Spargo beside the GAP benchmark suite, from results/graph_gap_cpu2.txt.

    python3 apps/bench/gap_chart.py           writes apps/docs/gap.svg
    python3 apps/bench/gap_chart.py --check   fails unless that is what the file holds
"""
import re
import sys
from pathlib import Path

here = Path(__file__).parent
titles = {"bfs": "breadth-first search", "components": "weak components", "pagerank": "PageRank",
          "betweenness": "betweenness, 4 sources", "sssp": "shortest paths", "triangles": "triangles"}
graphs = {"R-MAT": ("#1f6feb", "R-MAT 20 (triangles: 18)"), "uniform": ("#2da44e", "uniform, 2^20 vertices"),
          "grid": ("#bf8700", "grid, 2000 x 2000")}
left, bar, gap, unit, top = 170, 13, 12, 38, 56  # pixels; unit: those of "once as fast"


def ratios():
    """{command: {graph: GAP's time over Spargo's}}, the medians of the file's rounds."""
    found, command = {}, None
    for line in (here / "results" / "graph_gap_cpu2.txt").read_text().splitlines():
        if started := re.match(r"spargo (\w+) GRAPH", line):
            command = found.setdefault(started[1], {})
        elif row := re.match(r"  (R-MAT|uniform|grid).*? +[\d.]+ +[\d.]+ +([\d.]+) +\(", line):
            command[row[1]] = float(row[2])
    return found


def text(x, y, words, anchor="start"):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{words}</text>'


def chart():
    parts, y = [], top
    for command, of in ratios().items():
        parts.append(text(left - 8, y + bar * 1.5 + 5, titles[command], "end"))
        for graph, (color, _) in graphs.items():
            width = round(of[graph] * unit, 1)
            parts.append(f'<rect x="{left}" y="{y}" width="{width}" height="{bar - 1}" fill="{color}"/>')
            parts.append(text(left + width + 5, y + bar - 2, f"{of[graph]:.2f}"))
            y += bar
        y += gap
    line = f'<line x1="{left + unit}" y1="{top - 8}" x2="{left + unit}" y2="{y - gap + 4}" stroke="#24292f"/>'
    legend = [f'<rect x="{left + 215 * k}" y="12" width="11" height="11" fill="{color}"/>' +
              text(left + 215 * k + 16, 22, label) for k, (color, label) in enumerate(graphs.values())]
    axis = text(left + unit, top - 12, "1 = as fast as the GAP benchmark suite, both with two threads")
    body = "\n".join(legend + [axis] + parts + [line])
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{y + 4}" font-family="sans-serif" '
            f'font-size="12" fill="#24292f">\n<rect width="760" height="{y + 4}" fill="#ffffff"/>\n{body}\n</svg>\n')


def main():
    picture = here.parent / "docs" / "gap.svg"
    if sys.argv[1:] != ["--check"]:
        picture.write_text(chart())
    elif picture.read_text() != chart():
        sys.exit("apps/docs/gap.svg is not what apps/bench/gap_chart.py draws")


main()
