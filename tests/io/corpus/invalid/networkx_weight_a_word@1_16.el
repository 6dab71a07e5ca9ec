0 1 {'weight': 'heavy'}
