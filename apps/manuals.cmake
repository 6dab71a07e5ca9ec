# Manual pages and completion for bash: what `spargo help` writes of the commands' flags, once it is linked; installed
# under the names of the programs. A program for another machine cannot be asked.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  return()
endif()

set(man_dir ${PROJECT_BINARY_DIR}/share/man/man1)
set(completion_dir ${PROJECT_BINARY_DIR}/share/bash-completion/completions)
file(MAKE_DIRECTORY ${man_dir} ${completion_dir})
set(man_pages)
set(completions)

# spargo_write(LIST FILE ARGUMENTS...): FILE, appended to LIST, is what `spargo help ARGUMENTS` writes.
function(spargo_write list file)
  add_custom_command(OUTPUT ${file} COMMAND spargo_program help ${ARGN} > ${file} DEPENDS spargo_program VERBATIM)
  set(${list} ${${list}} ${file} PARENT_SCOPE)
endfunction()

spargo_write(man_pages ${man_dir}/spargo.1 --man)
spargo_write(completions ${completion_dir}/spargo --bash-completion)
foreach(stem IN LISTS app_command_names)
  string(REPLACE "_" "-" command ${stem})
  spargo_write(man_pages ${man_dir}/spargo-${command}.1 ${command} --man)
endforeach()
foreach(command IN LISTS spargo_single_commands)
  set(program ${SPARGO_APP_PREFIX}${command})
  spargo_write(completions ${completion_dir}/${program} ${command} --bash-completion --program ${program})
  if(NOT program STREQUAL "spargo-${command}")
    file(WRITE ${man_dir}/${program}.1 ".so man1/spargo-${command}.1\n")
    list(APPEND man_links ${man_dir}/${program}.1)
  endif()
endforeach()
add_custom_target(spargo_manuals ALL DEPENDS ${man_pages} ${completions})

if(SPARGO_INSTALL)
  install(FILES ${man_pages} ${man_links} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT spargo_apps)
  install(FILES ${completions} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT spargo_apps)
endif()
