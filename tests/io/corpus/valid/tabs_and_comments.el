# a graph
% and another comment

1	2
2	3
# in between
3	1
