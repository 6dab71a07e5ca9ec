"""A first look at a matrix or a graph, cell by cell: where its entries are, its degrees, who ranks first.

    pip install matplotlib
    python apps/python/examples/pictures.py [FILE or gen:...] [pictures.png]

Editors and Jupyter (jupytext) take the lines with %% as the beginnings of cells.
"""

# %% What to look at
import sys

import matplotlib

if __name__ == "__main__" and len(sys.argv) > 2:
    matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import spargo

name = sys.argv[1] if len(sys.argv) > 1 else "gen:rmat:scale=12,degree=8,seed=1"
g = spargo.Graph.read(name, directed=False)
print(g)

# %% A spy plot: a dot for each entry of the adjacency matrix
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), constrained_layout=True)
a = g.to_scipy()
left.spy(a, markersize=max(0.1, 200 / g.vertices), color="#112244")
left.set_title(f"{g.vertices:,} vertices, {g.edges:,} edges")

# %% A degree plot: the number of vertices with at least k neighbours
degrees = np.sort(g.degrees[g.degrees > 0])[::-1]
right.loglog(degrees, np.arange(1, degrees.size + 1), ".", color="#112244")
right.set_xlabel("neighbours")
right.set_ylabel("vertices with as many, or more")
right.set_title("degrees")

# %% What is near, and who ranks first
hub = int(np.argmax(g.degrees))
found = g.bfs(hub)
print(f"{found.reached:,} vertices are within {found.level_sizes.size - 1} edges of {hub}: {found.level_sizes.tolist()}")
ranks = g.pagerank().ranks
first = np.argsort(-ranks)[:5]
for vertex, called in zip(first, g.names(first)):
    print(f"{called}: rank {ranks[vertex]:.5f}, {g.degrees[vertex]} neighbours")

# %%
if len(sys.argv) > 2:
    figure.savefig(sys.argv[2], dpi=120)
    print(f"drawn in {sys.argv[2]}")
else:
    plt.show()
