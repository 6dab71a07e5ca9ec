// Turns on a GPU for test programs that run side by side.
//
// A GPU serves one process at a time and switches between those with work. A test of many short kernels waits for the
// switches: three programs that take 60 s alone took over 300 s beside four others. So a case that needs the GPU waits
// for a turn, and cases on the host run meanwhile. SPARGO_GPU_TURNS=FOLDER:N names a folder and how many programs have
// a turn at a time (run_gpu.sh sets it); without it nobody waits.
#pragma once

namespace spargo::test {

// Waits for a turn on the GPU of this program, unless the case has one. It ends with the case. Not from several
// threads.
void take_gpu_turn();

// Ends the turn at the end of each case, and prints at the end of the program how long it waited for turns and held
// them: called by main.
void end_gpu_turns_with_cases();

}  // namespace spargo::test
