0 1 {'weight': None}
