1,2
from,to
