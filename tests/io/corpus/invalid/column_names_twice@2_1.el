from,to
from,to
1,2
