# The seven bridges of Koenigsberg (Euler, 1736): 1 north bank, 2 south bank, 3 Kneiphof, 4 east; a multigraph
1 3
1 3
2 3
2 3
1 4
2 4
3 4
