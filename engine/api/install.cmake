# What `cmake --install` puts where: the program, libslide with its headers, a CMake package and a pkg-config file,
# the manual page, completions and examples.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/slide)
set(pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(api_folder ${PROJECT_SOURCE_DIR}/engine/api)

install(TARGETS slide_library EXPORT slide-targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${api_folder}/include/slide ${PROJECT_SOURCE_DIR}/engine/base/include/slide
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# The CMake package. Who links the static library also links what stands in it.
get_target_property(library_type slide_library TYPE)
string(COMPARE EQUAL ${library_type} STATIC_LIBRARY slide_is_static)
configure_package_config_file(${api_folder}/slide-config.cmake.in ${PROJECT_BINARY_DIR}/slide-config.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/slide-config-version.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT slide-targets NAMESPACE slide:: DESTINATION ${package_folder})
install(FILES ${PROJECT_BINARY_DIR}/slide-config.cmake ${PROJECT_BINARY_DIR}/slide-config-version.cmake
        DESTINATION ${package_folder})

# The pkg-config file; paths in it are relative to its own place.
file(RELATIVE_PATH pc_to_prefix /prefix/${pc_folder} /prefix)
if(slide_is_static)
  set(pc_requires "fmt zlib libzstd libutf8proc")
  list(TRANSFORM OpenMP_CXX_LIB_NAMES PREPEND -l OUTPUT_VARIABLE openmp)
  list(JOIN openmp " " openmp)
  set(pc_libs "-ldl ${openmp}")
endif()
configure_file(${api_folder}/slide.pc.in ${PROJECT_BINARY_DIR}/slide.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/slide.pc DESTINATION ${pc_folder})

install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/engine/CHANGELOG.md ${api_folder}/example.cpp
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs DESTINATION ${CMAKE_INSTALL_DOCDIR}
        PATTERN experiments EXCLUDE)

# The program, and what it says about itself.
if(SLIDE_BUILD_PROGRAM)
  install(TARGETS slide)
  set(shell_folder ${PROJECT_BINARY_DIR}/shell)
  add_custom_command(OUTPUT ${shell_folder}/made
    COMMAND ${CMAKE_COMMAND} "-DPROGRAM=${CMAKE_CROSSCOMPILING_EMULATOR};$<TARGET_FILE:slide>" -DFOLDER=${shell_folder} -P ${api_folder}/shell_files.cmake
    DEPENDS slide ${api_folder}/shell_files.cmake VERBATIM)
  add_custom_target(slide_shell_files ALL DEPENDS ${shell_folder}/made)
  install(FILES ${shell_folder}/slide.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  set(share ${CMAKE_INSTALL_DATADIR})
  install(FILES ${shell_folder}/bash DESTINATION ${share}/bash-completion/completions RENAME slide)
  install(FILES ${shell_folder}/zsh DESTINATION ${share}/zsh/site-functions RENAME _slide)
  install(FILES ${shell_folder}/fish DESTINATION ${share}/fish/vendor_completions.d RENAME slide.fish)
  # Where systemd looks for the units of packages, whatever the folder of libraries is.
  install(FILES ${PROJECT_SOURCE_DIR}/engine/serve/slide-serve.service DESTINATION lib/systemd/system)
endif()

if(SLIDE_BUILD_PROGRAM AND PROJECT_IS_TOP_LEVEL)
  include(${api_folder}/packages/packages.cmake)
endif()
