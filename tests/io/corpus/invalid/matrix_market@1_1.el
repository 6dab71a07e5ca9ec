%%MatrixMarket matrix coordinate pattern general
1 1 1
1 1
