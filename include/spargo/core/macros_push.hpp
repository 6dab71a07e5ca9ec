// Hides macros of system headers (`I` of <complex.h>) until macros_pop.hpp. A header's last include; may be nested.
#pragma push_macro("I")
#undef I
