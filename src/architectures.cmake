# Which GPUs the library is built for.

# spargo_gpu_architectures(OUT): compute capabilities of this machine's GPUs from 7.5 on, "80;90"; empty where there are
# none or no driver.
function(spargo_gpu_architectures out)
  set(found "")
  find_program(SPARGO_NVIDIA_SMI nvidia-smi)
  mark_as_advanced(SPARGO_NVIDIA_SMI)
  if(SPARGO_NVIDIA_SMI)
    execute_process(COMMAND ${SPARGO_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
                    RESULT_VARIABLE status OUTPUT_VARIABLE lines ERROR_QUIET TIMEOUT 30)
    if(status EQUAL 0)
      string(REGEX MATCHALL "[0-9]+\\.[0-9]" capabilities "${lines}")
      foreach(capability IN LISTS capabilities)
        string(REPLACE "." "" architecture "${capability}")
        if(architecture GREATER_EQUAL 75)
          list(APPEND found ${architecture})
        endif()
      endforeach()
      list(REMOVE_DUPLICATES found)
      list(SORT found COMPARE NATURAL)
    endif()
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# spargo_why_cuda_is_too_old(OUT VERSION): empty if the CUDA Toolkit is not. Older ones (CCCL before 2.7) count a
# selection's elements in an int, and would cut a size of 2^31 and more without a word.
function(spargo_why_cuda_is_too_old out version)
  set(why "")
  if(version VERSION_LESS 12.8)
    set(why "CUDA Toolkit ${version} is too old (expected 12.8 or newer)")
  endif()
  set(${out} "${why}" PARENT_SCOPE)
endfunction()

# spargo_wants_cuda(OUT): whether SPARGO_CUDA asks for CUDA code: ON does, and AUTO where this machine can run it or the
# user names architectures.
function(spargo_wants_cuda out)
  set(${out} TRUE PARENT_SCOPE)
  if(SPARGO_CUDA STREQUAL "AUTO" AND NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
    spargo_gpu_architectures(found)
    if(found STREQUAL "")
      set(${out} FALSE PARENT_SCOPE)
    endif()
  endif()
endfunction()

# Sets CMAKE_CUDA_ARCHITECTURES where the user has not: the machine's GPUs, 90 where there are none. `native` becomes a
# list as well, so that what depends on an architecture finds it there.
macro(spargo_choose_cuda_architectures)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND DEFINED ENV{CUDAARCHS})
    set(CMAKE_CUDA_ARCHITECTURES $ENV{CUDAARCHS})
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES OR CMAKE_CUDA_ARCHITECTURES STREQUAL "native")
    spargo_gpu_architectures(spargo_gpus)
    if(spargo_gpus STREQUAL "")
      set(spargo_gpus 90)
      message(STATUS "No GPU found: building for compute capability 9.0 (CMAKE_CUDA_ARCHITECTURES chooses others)")
    else()
      message(STATUS "Building for the GPUs of this machine: ${spargo_gpus}")
    endif()
    if(DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES "${spargo_gpus}")
    else()
      set(CMAKE_CUDA_ARCHITECTURES "${spargo_gpus}" CACHE STRING
          "GPU architectures, as CMake names them; 90 holds code for Hopper and PTX for later ones")
    endif()
  endif()
endmacro()

# spargo_includes_hopper(OUT LIST): whether a list of architectures has any form of 90, so that kernels for sm_90a, code
# of that chip alone, are worth compiling.
function(spargo_includes_hopper out)
  set(${out} FALSE PARENT_SCOPE)
  foreach(architecture IN LISTS ARGN)
    if(architecture MATCHES "^(90a?(-real|-virtual)?|all|all-major)$")
      set(${out} TRUE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()
