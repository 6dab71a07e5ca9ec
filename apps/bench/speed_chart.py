#!/usr/bin/env python3
"""The README's picture: Spargo beside the GAP benchmark suite and cuGraph, from files of results.

    python3 apps/bench/speed_chart.py           writes apps/docs/speed.svg
    python3 apps/bench/speed_chart.py --check   fails unless that is what the file holds
"""
import math
import re
import sys
from pathlib import Path

here = Path(__file__).parent
titles = {"bfs": "BFS", "components": "weak components", "pagerank": "PageRank", "betweenness": "betweenness",
          "sssp": "shortest paths", "triangles": "triangles", "similarity": "Jaccard", "strong": "strong components",
          "cores": "core numbers", "forest": "spanning forest", "louvain": "Louvain", "leiden": "Leiden",
          "trusses": "10-truss", "eigenvector": "eigenvector", "hits": "HITS", "walks": "walks", "layout": "layout"}
graphs = {"R-MAT": "#1f6feb", "uniform": "#2da44e", "grid": "#bf8700"}
top = 62  # pixels


def beside_gap():
    """{command: {graph: GAP's time over Spargo's}}, the medians of the file's rounds."""
    found, command = {}, None
    for line in (here / "results" / "graph_gap_cpu2.txt").read_text().splitlines():
        if started := re.match(r"spargo (\w+) GRAPH", line):
            command = found.setdefault(started[1], {})
        elif row := re.match(r"  (R-MAT|uniform|grid).*? +[\d.]+ +[\d.]+ +([\d.]+) +\(", line):
            command[row[1]] = row[2]
    return found


def beside_cugraph():
    """{command: {graph: cuGraph's time over Spargo's}}"""
    called = {"rmat_22_16": "R-MAT", "uniform_4m_16": "uniform", "grid_2048": "grid"}
    found, table = {}, (here / "results" / "cugraph_h200.txt").read_text()
    for command, graph, ratio in re.findall(r"^(\w+) +(\w+) +[\d.]+ +[\d.]+ +([\d.]+)", table, re.M):
        found.setdefault(command, {})[called[graph]] = ratio
    return found


def text(x, y, words, anchor="start", size=11):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}">{words}</text>'


def bars(ratios, left, bar, gap, length, marks):
    """The bars from x = left on, of length(ratio) pixels, lines at the marked ratios, and the lower end."""
    parts, y = [], top
    for command, of in ratios.items():
        parts.append(text(left - 6, y + bar * len(of) / 2 + 4, titles[command], "end"))
        for graph, color in graphs.items():
            if graph in of:
                width = round(length(float(of[graph])), 1)
                parts.append(f'<rect x="{left}" y="{y}" width="{width}" height="{bar - 1}" fill="{color}"/>')
                parts.append(text(left + width + 4, y + bar - 1.5, of[graph], size=min(bar, 10)))
                y += bar
        y += gap
    for mark in marks:
        x = round(left + length(mark), 1)
        parts.append(f'<line x1="{x}" y1="{top - 6}" x2="{x}" y2="{y - gap + 3}" stroke="#24292f" stroke-width=".5"/>')
        parts.append(text(x, top - 9, mark, "middle", 9))
    return parts, y


def chart():
    legend = [f'<rect x="{110 + 90 * k}" y="6" width="11" height="11" fill="{color}"/>' + text(126 + 90 * k, 16, graph)
              for k, (graph, color) in enumerate(graphs.items())]
    heads = [text(16, 38, "Times as fast as GAP, two CPU threads each"),
             text(392, 38, "Times as fast as cuGraph, on the same H100 (logarithmic)")]
    left, low = bars(beside_gap(), 110, 14, 18, lambda ratio: 17 * ratio, (1, 5, 10))
    right, lower = bars(beside_cugraph(), 500, 9, 5, lambda ratio: 70 * math.log10(ratio), (1, 10, 100))
    body, height = "\n".join(legend + heads + left + right), max(low, lower) + 4
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{height}" font-family="sans-serif" '
            f'fill="#24292f">\n<rect width="760" height="{height}" fill="#ffffff"/>\n{body}\n</svg>\n')


def main():
    picture = here.parent / "docs" / "speed.svg"
    if sys.argv[1:] != ["--check"]:
        picture.write_text(chart())
    elif picture.read_text() != chart():
        sys.exit("apps/docs/speed.svg is not what apps/bench/speed_chart.py draws")


main()
