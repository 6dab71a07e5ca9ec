# exported

"from";"to"
1;2
2;3
