0 1 {'weight
1 2 {}
