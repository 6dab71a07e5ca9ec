0,1,{'color': 'red'}
1,2,{}
