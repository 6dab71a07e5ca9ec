// Restores what macros_push.hpp hid. Include it as the last line of a header.
#pragma pop_macro("I")
