0 1 {'weight': 3
1 2 {}
