// Hides the macros of system headers that are names of ours, until macros_pop.hpp: `I` of <complex.h>. The last include
// of a header, any number of times.
#pragma push_macro("I")
#undef I
