# What scripts/package.sh makes packages of, beside what `cmake --install` copies: the static program of the archive,
# built from the objects of the other one, and what `cpack -G DEB` asks.
set(packages_folder ${CMAKE_CURRENT_LIST_DIR})

find_library(slide_static_z NAMES libz.a NO_CACHE)
find_library(slide_static_zstd NAMES libzstd.a NO_CACHE)
find_library(slide_static_utf8proc NAMES libutf8proc.a NO_CACHE)
find_library(slide_static_fmt NAMES libfmt.a NO_CACHE)
if(slide_static_z AND slide_static_zstd AND slide_static_utf8proc)
  foreach(room base kernels lsh rows text formats sidecar datasets config statistics crosses knn wide network loop inference model
          training run report serve cli)
    list(APPEND slide_objects $<TARGET_OBJECTS:slide_${room}>)
  endforeach()
  # A static program loads no plug-in for MPI.
  list(APPEND slide_objects $<FILTER:$<TARGET_OBJECTS:slide_cluster>,EXCLUDE,open_cluster>)
  add_executable(slide_static EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/engine/main.cpp
                 ${PROJECT_SOURCE_DIR}/engine/cluster/open_alone.cpp ${slide_objects})
  set(slide_fmt_folders $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
  if(NOT slide_static_fmt)
    add_library(slide_fmt OBJECT EXCLUDE_FROM_ALL ${packages_folder}/fmt_static.cpp)
    target_include_directories(slide_fmt SYSTEM PRIVATE ${slide_fmt_folders})
    set(slide_static_fmt $<TARGET_OBJECTS:slide_fmt>)
  endif()
  target_include_directories(slide_static SYSTEM PRIVATE ${slide_fmt_folders})
  target_include_directories(slide_static PRIVATE ${PROJECT_SOURCE_DIR}/engine/base/include)
  # The imported targets name shared libraries.
  target_link_libraries(slide_static PRIVATE slide_options ${slide_static_fmt} ${slide_static_utf8proc}
                        ${slide_static_zstd} ${slide_static_z})
  set(kind -static)
  if(CMAKE_POSITION_INDEPENDENT_CODE)  # the objects can be loaded anywhere, then
    set(kind -static-pie)
  endif()
  target_link_options(slide_static PRIVATE ${kind} ${OpenMP_CXX_FLAGS})
  set_target_properties(slide_static PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})

  # The Python module of the wheel holds all libraries but OpenMP's, whose archive fits programs alone.
  if(TARGET slide_python)
    add_library(slide_wheel MODULE EXCLUDE_FROM_ALL $<TARGET_OBJECTS:slide_python> ${packages_folder}/wheel_symbols.cpp)
    get_target_property(suffix slide_python SUFFIX)
    set_target_properties(slide_wheel PROPERTIES PREFIX "" OUTPUT_NAME _slide SUFFIX ${suffix}
                          LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/wheel
                          LINK_DEPENDS ${packages_folder}/wheel.map)
    add_dependencies(slide_wheel slide_library)
    target_link_libraries(slide_wheel PRIVATE slide_options $<TARGET_FILE:slide_library> ${slide_static_fmt}
                          ${slide_static_utf8proc} ${slide_static_zstd} ${slide_static_z} ${CMAKE_DL_LIBS})
    target_link_options(slide_wheel PRIVATE ${OpenMP_CXX_FLAGS} -static-libstdc++ -shared-libgcc
                        -Wl,--version-script=${packages_folder}/wheel.map)
  endif()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME slide)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "networks with very many outputs, trained on the CPU")
set(slide_contents "the program and the C++ library with its headers")
if(SLIDE_PYTHON_FOUND)
  set(slide_contents "the program, the C++ library with its headers, and the\nPython package")
endif()
set(CPACK_PACKAGE_DESCRIPTION
"SLIDE trains classifiers of 10^4 to 10^7 labels from text or sparse features,
and uses them. A training step computes and updates only neurons that draws or
hash tables choose.
.
This package holds ${slide_contents}.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_SLIDE_STRIP ${CMAKE_STRIP})
if(CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")  # else that of this machine
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
endif()
set(SLIDE_MAINTAINER "SLIDE <slide@packages.invalid>" CACHE STRING "Who the Debian package says to maintain it")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${SLIDE_MAINTAINER}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, libfmt-dev, libutf8proc-dev, libzstd-dev, zlib1g-dev, python3-tqdm, python3-matplotlib")
# Dependencies are found by deb_files.cmake, in what was installed.
set(CPACK_PRE_BUILD_SCRIPTS ${packages_folder}/deb_files.cmake)
if(SLIDE_PYTHON_FOUND)
  set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${packages_folder}/postinst ${packages_folder}/prerm)
  set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
endif()
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
