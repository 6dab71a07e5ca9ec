nan,inf
1,2
