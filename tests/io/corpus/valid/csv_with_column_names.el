source,target,weight
1,2,0.5
2,3,-1e-3
