alice bob
1 2
