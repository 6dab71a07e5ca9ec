0 1 {'weight': 1e999}
