from to
1 2
