# Run by `cpack -G DEB` over what it has installed: puts it as Debian wants it, and finds the dependencies. The program
# needs its own libraries; what the Python package and the plug-in for MPI need besides is recommended.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
set(doc ${root}/usr/share/doc/slide)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code ERROR_VARIABLE error OUTPUT_VARIABLE output
                  WORKING_DIRECTORY ${root})
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "deb_files.cmake: ${ARGN}: ${error}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# For which architecture libraries are looked up.
if(CPACK_DEBIAN_PACKAGE_ARCHITECTURE)
  set(ENV{DEB_HOST_ARCH} ${CPACK_DEBIAN_PACKAGE_ARCHITECTURE})
endif()

# What dpkg-shlibdeps finds for files, as the text of a field.
function(libraries_of result)
  set(work ${CPACK_TOPLEVEL_DIRECTORY}/shlibdeps)
  file(MAKE_DIRECTORY ${work}/debian)
  file(WRITE ${work}/debian/control "Source: slide\n\nPackage: slide\nArchitecture: any\n")
  execute_process(COMMAND dpkg-shlibdeps -O ${ARGN} WORKING_DIRECTORY ${work} RESULT_VARIABLE code
                  OUTPUT_VARIABLE found ERROR_VARIABLE error OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "deb_files.cmake: dpkg-shlibdeps: ${error}")
  endif()
  string(REPLACE "shlibs:Depends=" "" found "${found}")
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

libraries_of(depends ${root}/usr/bin/slide)
file(GLOB_RECURSE plugin ${root}/usr/lib/*/slide_mpi.so)
file(GLOB_RECURSE module ${root}/usr/lib/python3*/_slide*.so)
set(recommends)
if(plugin OR module)
  libraries_of(recommends ${plugin} ${module})
  string(REPLACE ", " ";" recommends "${recommends}")
  string(REPLACE ", " ";" needed "${depends}")
  list(REMOVE_ITEM recommends ${needed})
endif()
if(plugin)
  list(APPEND recommends openmpi-bin)
  run(patchelf --remove-rpath ${plugin})  # a folder of the system's
endif()

# Of the one folder for all Python 3, where the module's name says which of them it is for.
if(module)
  list(APPEND recommends python3-numpy python3-scipy python3-sklearn)
  string(REGEX MATCH "cpython-3([0-9]+)" found ${module})
  math(EXPR next "${CMAKE_MATCH_1} + 1")
  list(APPEND recommends "python3 (>= 3.${CMAKE_MATCH_1})" "python3 (<< 3.${next})")
  get_filename_component(package ${module} DIRECTORY)
  file(MAKE_DIRECTORY ${root}/usr/lib/python3/dist-packages)
  file(RENAME ${package} ${root}/usr/lib/python3/dist-packages/slide)
  get_filename_component(versioned ${package}/../.. ABSOLUTE)
  file(REMOVE_RECURSE ${versioned})
endif()
list(JOIN recommends ", " recommends)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "${depends}")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "${recommends}")

configure_file($ENV{SLIDE_COPYRIGHT} ${doc}/copyright COPYONLY)
file(RENAME ${doc}/CHANGELOG.md ${doc}/changelog)
file(RENAME ${root}/usr/share/zsh/site-functions ${root}/usr/share/zsh/vendor-completions)
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH, if there is one
file(WRITE ${doc}/changelog.Debian "slide (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * What changed is in changelog.gz.

 -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${now}
")
run(gzip -9n ${doc}/changelog ${doc}/changelog.Debian ${root}/usr/share/man/man1/slide.1)
file(GLOB libraries ${root}/usr/lib/libslide.a)
if(libraries)
  run(${CPACK_SLIDE_STRIP} --strip-debug --enable-deterministic-archives ${libraries})
endif()
run(find . -type d -exec chmod 755 {} +)
