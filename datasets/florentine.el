# Marriages among Florentine families, 15th century (Padgett and Ansell, 1993): 15 families, 20 ties, undirected
# 1 Acciaiuoli, 2 Albizzi, 3 Barbadori, 4 Bischeri, 5 Castellani, 6 Ginori, 7 Guadagni, 8 Lamberteschi, 9 Medici, 10 Pazzi, 11 Peruzzi, 12 Ridolfi, 13 Salviati, 14 Strozzi, 15 Tornabuoni
1	9
2	6
2	7
2	9
3	5
3	9
4	7
4	11
4	14
5	11
5	14
7	8
7	15
9	12
9	13
9	15
10	13
11	14
12	14
12	15
