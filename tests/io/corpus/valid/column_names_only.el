source,target
