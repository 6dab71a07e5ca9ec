# cmake -P: the reasons of skipped cases that tests/run.sh counts.
set(log [==[
[ RUN      ] A.B
../tests/a_test.cpp:5: Skipped
no GPU: this library was built without CUDA

[  SKIPPED ] A.B (0 ms)
../tests/b_test.cpp:144: Skipped
../tests/b_test.cpp:144: Skipped
of threads only

of threads only

../tests/c_test.cpp:7: Skipped
ESC[0;32m[       OK ] ESC[mC.Other (13 ms)
under a launcher

../tests/d_test.cpp:9: Skipped

[  SKIPPED ] D.WithoutAReason (0 ms)
some output
../tests/e_test.cpp:9: Skipped
/tmp/some/x.spg:3: no snapshots: no xxHash

../tests/f_test.cpp:9: Skipped
../data/f.spg: no snapshots: no xxHash
]==])
string(ASCII 27 escape)
string(REPLACE "ESC" "${escape}" log "${log}")
set(file ${CMAKE_CURRENT_BINARY_DIR}/skip_reasons.log)
file(WRITE ${file} "${log}")
execute_process(COMMAND awk -f ${CMAKE_CURRENT_LIST_DIR}/../skip_reasons.awk ${file} OUTPUT_VARIABLE is RESULT_VARIABLE status)
set(wanted "no GPU\nof threads only\nof threads only\nunder a launcher\nno snapshots\nno snapshots\n")
if(NOT status EQUAL 0 OR NOT is STREQUAL wanted)
  message(FATAL_ERROR "skip_reasons.awk (${status}) says\n${is}(expected\n${wanted})")
endif()
