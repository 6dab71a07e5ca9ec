// Gives back what macros_push.hpp hid. The last line of a header.
#pragma pop_macro("I")
