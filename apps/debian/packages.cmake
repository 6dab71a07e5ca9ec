# Debian packages by CPack: the library, its headers, its plug-in for MPI, the programs and the Python package. A folder
# in which they are built is configured with the prefix /usr: apps/debian/build.sh. `auto` dependencies are those that
# dpkg-shlibdeps finds; packages of ours depend on the very version of the library that they were built with.
set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(library libspargo${soversion})
set(same_library "${library} (= ${PROJECT_VERSION})")
set(SPARGO_DEBIAN_MAINTAINER "" CACHE STRING "Of the packages: Name <address>")
set(SPARGO_DEBIAN_DATE "" CACHE STRING "Of the packages, as `date -R` prints it")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME spargo)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR spargo)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz CACHE STRING "How packages are compressed")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${SPARGO_DEBIAN_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENTS_ALL)

set(packages_dir ${PROJECT_BINARY_DIR}/debian)
set(debian_copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Spargo

Files: *
Copyright: 2025-2026 Spargo's authors
License: Apache-2.0

License: Apache-2.0
 On Debian systems the text of this license is in
 /usr/share/common-licenses/Apache-2.0.
")

# spargo_package(COMPONENT PACKAGE SECTION DESCRIPTION): its files for dpkg, its changelog and its copyright.
macro(spargo_package component package section description)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}")
  set(docs ${packages_dir}/${package})
  file(WRITE ${docs}/copyright "${debian_copyright}")
  file(WRITE ${docs}/changelog "spargo (${PROJECT_VERSION}) unstable; urgency=medium

  * Built from Spargo's sources, whose CHANGELOG.md lists the changes.

 -- ${SPARGO_DEBIAN_MAINTAINER}  ${SPARGO_DEBIAN_DATE}
")
  execute_process(COMMAND gzip -9nf ${docs}/changelog COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${docs}/copyright ${docs}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package}
          COMPONENT ${component})
endmacro()

# spargo_control(COMPONENT FILE MODE CONTENT): a file beside `control`.
macro(spargo_control component file mode content)
  string(TOUPPER ${component} upper)
  set(control ${packages_dir}/${component}/${file})
  file(WRITE ${control} "${content}")
  execute_process(COMMAND chmod ${mode} ${control} COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${control})
endmacro()

spargo_package(spargo_library ${library} libs "graph and sparse matrix analytics (shared library)
Spargo searches, ranks and partitions graphs, multiplies sparse matrices and
solves linear systems on all cores. It reads Matrix Market files, edge lists,
METIS, DIMACS, GML and GraphML.
.
This package has the shared library.")
spargo_control(spargo_library shlibs 644 "libspargo ${soversion} ${library} (>= ${PROJECT_VERSION})\n")
spargo_control(spargo_library triggers 644 "activate-noawait ldconfig\n")
file(WRITE ${packages_dir}/overrides/${library} "# CPack writes scripts that call ldconfig, whatever the trigger.
${library}: maintscript-calls-ldconfig
")
install(FILES ${packages_dir}/overrides/${library} DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides
        COMPONENT spargo_library)

spargo_package(spargo_development libspargo-dev libdevel "graph and sparse matrix analytics (headers)
Spargo searches, ranks and partitions graphs, multiplies sparse matrices and
solves linear systems on all cores.
.
This package has what a C++20 program is compiled with: headers, and the files
by which CMake and pkg-config find them.")
set(CPACK_DEBIAN_SPARGO_DEVELOPMENT_PACKAGE_DEPENDS "${same_library}")

if(TARGET spargo_mpi)
  spargo_package(spargo_mpi ${library}-mpi libs "graph and sparse matrix analytics (plug-in for MPI)
Spargo searches and ranks graphs, finds their components and multiplies sparse
matrices on several hosts.
.
This package has the plug-in that the library loads in processes that mpirun or
srun has started.")
  set(CPACK_DEBIAN_SPARGO_MPI_PACKAGE_DEPENDS "${same_library}")
  set(CPACK_DEBIAN_SPARGO_MPI_PACKAGE_RECOMMENDS openmpi-bin)
endif()

spargo_package(spargo_apps spargo-tools math "graph and sparse matrix analytics (command line)
The command spargo answers questions about the graph or the sparse matrix in a
file: paths, components, ranks, communities, products, linear systems and many
more. It checks each result independently, and says what it did and how long it
took.
.
This package has the programs, their manual pages, and completion for bash, zsh
and fish.")
set(CPACK_DEBIAN_SPARGO_APPS_PACKAGE_DEPENDS "${same_library}")
set(CPACK_DEBIAN_SPARGO_APPS_PACKAGE_SUGGESTS "${library}-mpi")
install(CODE "file(GLOB pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1/*.1\")
  execute_process(COMMAND gzip -9nf \${pages} COMMAND_ERROR_IS_FATAL ANY)" COMPONENT spargo_apps)

if(SPARGO_PYTHON)
  # nanobind is a part of this package, which has its license.
  file(READ ${SPARGO_NANOBIND_LICENSE} license)
  string(REGEX REPLACE "\n\n" "\n.\n" license "${license}")
  string(REGEX REPLACE "\n" "\n " license "${license}")
  string(REGEX MATCH "Copyright \\(c\\) ([^\n]+)" copyright "${license}")
  string(STRIP "${license}" license)
  string(REPLACE "\n\nLicense: Apache" "\n\nFiles: /usr/lib/python3/dist-packages/spargo/_backend.*
Copyright: ${CMAKE_MATCH_1}\nLicense: BSD-3-Clause\n\nLicense: BSD-3-Clause\n ${license}\n\nLicense: Apache"
         debian_copyright "${debian_copyright}")
  spargo_package(spargo_python3 python3-spargo python "graph and sparse matrix analytics (Python 3)
Spargo searches, ranks and partitions graphs, multiplies sparse matrices and
solves linear systems on all cores.
.
This package has the Python package, which takes matrices of SciPy and arrays
of NumPy without copies.")
  math(EXPR next "${Python_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_SPARGO_PYTHON3_PACKAGE_DEPENDS "${same_library}, python3 (>= 3.${Python_VERSION_MINOR}~), \
python3 (<< 3.${next}), python3-numpy (>= 1:1.23), python3-scipy (>= 1.9)")
  set(CPACK_DEBIAN_SPARGO_PYTHON3_PACKAGE_SUGGESTS "python3-matplotlib, python3-networkx (>= 3.4), python3-pandas")
  set(dist_packages lib/python3/dist-packages)
  install(TARGETS spargo_python _backend LIBRARY DESTINATION ${dist_packages}/spargo COMPONENT spargo_python3)
  install(DIRECTORY apps/python/spargo DESTINATION ${dist_packages} COMPONENT spargo_python3
          FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "_backend.py" EXCLUDE
          PATTERN "__pycache__" EXCLUDE)
  install(FILES apps/python/_spargo_networkx.py DESTINATION ${dist_packages} COMPONENT spargo_python3)
  # What networkx finds its backend by.
  file(READ pyproject.toml project)
  foreach(group networkx.backends networkx.backend_info)
    string(REGEX MATCH "entry-points\\.\"${group}\"\\]\nspargo = \"([^\"]+)" found "${project}")
    string(APPEND entry_points "[${group}]\nspargo = ${CMAKE_MATCH_1}\n")
  endforeach()
  set(dist_info ${packages_dir}/spargo-${PROJECT_VERSION}.dist-info)
  file(WRITE ${dist_info}/entry_points.txt "${entry_points}")
  file(WRITE ${dist_info}/METADATA "Metadata-Version: 2.1\nName: spargo\nVersion: ${PROJECT_VERSION}\n")
  install(DIRECTORY ${dist_info} DESTINATION ${dist_packages} COMPONENT spargo_python3)
  # As dh_python3 writes them.
  spargo_control(spargo_python3 postinst 755 "#!/bin/sh
set -e
if [ \"$1\" = configure ] && command -v py3compile > /dev/null; then py3compile -p python3-spargo; fi
")
  spargo_control(spargo_python3 prerm 755 "#!/bin/sh
set -e
if command -v py3clean > /dev/null; then py3clean -p python3-spargo; fi
")
endif()
include(CPack)
