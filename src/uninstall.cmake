# Removes what the last `cmake --install` of this build put in place: the files that its manifests name, nothing else.
# Under DESTDIR where that is set, as on installing.
file(GLOB manifests install_manifest*.txt)
if(NOT manifests)
  message(FATAL_ERROR "nothing to uninstall: there is no install_manifest.txt in the build folder")
endif()
foreach(manifest IN LISTS manifests)
  file(STRINGS ${manifest} files)
  foreach(file IN LISTS files)
    message(STATUS "Uninstalling: $ENV{DESTDIR}${file}")
    file(REMOVE "$ENV{DESTDIR}${file}")
  endforeach()
  file(REMOVE ${manifest})
endforeach()
