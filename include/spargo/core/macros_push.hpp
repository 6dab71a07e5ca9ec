// Hides macros of system headers that clash with our names (`I` of <complex.h>) until macros_pop.hpp. Include it last
// in a header; nesting is fine.
#pragma push_macro("I")
#undef I
