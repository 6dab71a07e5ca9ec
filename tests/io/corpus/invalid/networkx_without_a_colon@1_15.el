0 1 {'weight' 3}
