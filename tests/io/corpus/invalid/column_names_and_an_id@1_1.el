from,2
1,2
