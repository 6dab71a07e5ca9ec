0 1 {'weight': 3.0}
0 2 {'color': 'a, }b', 'weight': 2, 'at': [1, {2: 3}]}
1 2 {"weight":-1e-3}
2 3 {'weight': np.float64(0.25)} more
3 4 {'weight': inf}
