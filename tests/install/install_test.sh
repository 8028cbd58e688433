#!/usr/bin/env bash
# Tests what `cmake --install` puts where, and that programs are built against it. The first part installs; the others
# use what it installed, moved to another place, as a package would be.
# usage: tests/install/install_test.sh PART BUILD_FOLDER WORK_FOLDER
#   tree            installs into WORK_FOLDER/installed
#   files           everything is there, and nothing names the folders of the build
#   headers         every header compiles alone, as C++17 and C++20, without a warning
#   find_package    the example by find_package(slide)
#   pkg_config      the example by pkg-config and the compiler alone
#   add_subdirectory  the example with the sources inside its own project, static and shared; then the shared library
#                   installed and used in the two other ways
set -euo pipefail
part=${1:?usage: install_test.sh PART BUILD_FOLDER WORK_FOLDER}
build=$(realpath "${2:?}")
sources=$(realpath "$(dirname "$0")/../..")
mkdir -p "${3:?}"
work=$(realpath "$3")
prefix=$work/installed
compiler=${CXX:-c++}
# Threads that wait by spinning would be slow where several tests run at once.
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} OMP_WAIT_POLICY=passive
fail() { echo "install_test.sh: $*" >&2; exit 1; }

command -v pkg-config > "$work/log" || fail "pkg-config is missing; install it"

install_tree() {
  rm -rf "$prefix" "$work/first"
  cmake --install "$build" --prefix "$work/first" > "$work/install.log"
  mv "$work/first" "$prefix"
}

check_files() {
  local lib file shell package python
  lib=$(dirname "$(find "$prefix" -name 'libslide.*' -not -path '*/cmake/*' -print -quit)")
  for file in bin/slide include/slide/slide.h share/man/man1/slide.1 share/bash-completion/completions/slide \
      lib/systemd/system/slide-serve.service share/doc/slide/README.md share/doc/slide/example.cpp share/doc/slide/configs/default.toml; do
    [ -s "$prefix/$file" ] || fail "$file is missing"
  done
  for file in cmake/slide/slide-{config,config-version,targets}.cmake pkgconfig/slide.pc; do
    [ -s "$lib/$file" ] || fail "$lib/$file is missing"
  done
  [ ! -e "$build/slide_mpi.so" ] || [ -s "$lib/slide/slide_mpi.so" ] || fail "$lib/slide/slide_mpi.so is missing"
  if [ -d "$build/python/slide" ]; then
    package=$(find "$prefix" -path '*-packages/slide' -print -quit)
    for file in __init__.py _slide.pyi py.typed; do
      [ -e "$package/$file" ] || fail "the Python package lacks $file"
    done
    python=$(sed -n 's/^Python_EXECUTABLE:[A-Z]*=//p' "$build/CMakeCache.txt")
    (cd "$work" && PYTHONPATH=${package%/slide} "$python" -c 'import slide; print("slide", slide.__version__)') |
      grep -qx "$("$prefix/bin/slide" --version | sed 's/ (.*//')" || fail "the Python package is of another version, or cannot be imported"
  fi
  "$prefix/bin/slide" --version | grep -q "^slide $(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --modversion slide) (" ||
    fail "the program and slide.pc are of two versions"
  "$prefix/bin/slide" man | cmp - "$prefix/share/man/man1/slide.1"
  "$prefix/bin/slide" completion bash | cmp - "$prefix/share/bash-completion/completions/slide"
  for shell in zsh:share/zsh/site-functions/_slide fish:share/fish/vendor_completions.d/slide.fish; do
    "$prefix/bin/slide" completion "${shell%%:*}" | cmp - "$prefix/${shell#*:}"
  done
  if grep -rnF -e "$sources" -e "$build" -e "$work" "$lib/cmake" "$lib/pkgconfig"; then
    fail "these files name folders of the build"
  fi
}

check_headers() {
  local header standard
  for header in "$prefix"/include/slide/*.h; do
    for standard in c++17 c++20; do
      echo "#include <slide/$(basename "$header")>" |
        "$compiler" -std=$standard -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I "$prefix/include" \
          -fsyntax-only -x c++ - || fail "$header does not compile alone as $standard"
    done
  done
}

# Runs a program of the example and looks at its last lines.
run_example() {  # program
  (cd "$(dirname "$1")" && "$1" > example.log) || { cat "$(dirname "$1")/example.log"; fail "$1 fails"; }
  grep -q '^label 7 ' "$(dirname "$1")/example.log" || fail "$1 does not find label 7"
}

write_project() {  # folder, the line that brings slide::slide
  mkdir -p "$1"
  cp "$sources/engine/api/example.cpp" "$1/"
  cat > "$1/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(example CXX)
set(before "\${CMAKE_CXX_FLAGS};\${CMAKE_CXX_STANDARD};\${CMAKE_BUILD_TYPE};\${CMAKE_EXPORT_COMPILE_COMMANDS}")
$2
set(after "\${CMAKE_CXX_FLAGS};\${CMAKE_CXX_STANDARD};\${CMAKE_BUILD_TYPE};\${CMAKE_EXPORT_COMPILE_COMMANDS}")
if(TARGET base_tests OR TARGET slide OR NOT before STREQUAL after)
  message(FATAL_ERROR "slide brings more than its library into another project: \${before} became \${after}")
endif()
add_executable(example example.cpp)
target_link_libraries(example PRIVATE slide::slide)
CMAKE
}

by_find_package() {  # prefix, place
  rm -rf "$2"
  write_project "$2" "find_package(slide 0.1 REQUIRED)"
  cmake -S "$2" -B "$2/build" -DCMAKE_PREFIX_PATH="$1" > "$2/log" || { cat "$2/log"; fail "find_package fails"; }
  cmake --build "$2/build" >> "$2/log" || { cat "$2/log"; fail "the example is not built by find_package"; }
  run_example "$2/build/example"
}

by_pkg_config() {  # prefix, place, option of pkg-config
  local flags
  rm -rf "$2" && mkdir -p "$2"
  PKG_CONFIG_PATH=$(dirname "$(find "$1" -name slide.pc)")
  export PKG_CONFIG_PATH
  read -ra flags <<< "$(pkg-config "${@:3}" --cflags --libs slide)"
  "$compiler" -std=c++17 "$sources/engine/api/example.cpp" -o "$2/example" "${flags[@]}" ||
    fail "the example is not built by pkg-config"
  run_example "$2/example"
}

# One build serves both kinds of library: objects that fit a shared one fit a static one too. It is kept, so that
# another run builds only what has changed.
by_add_subdirectory() {
  local place=$work/subproject kind
  write_project "$place" "add_subdirectory($sources slide)"
  for kind in OFF ON; do
    cmake -S "$place" -B "$place/build" -G Ninja -DCMAKE_CXX_FLAGS=-O0 -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=$kind -DSLIDE_INSTALL=$kind > "$place/log" ||
      { cat "$place/log"; fail "add_subdirectory fails"; }
    cmake --build "$place/build" --target example >> "$place/log" ||
      { tail -n 40 "$place/log"; fail "the example is not built by add_subdirectory"; }
    run_example "$place/build/example"
  done
  rm -rf "$work/shared"
  cmake --install "$place/build" --prefix "$work/shared" > "$work/install-shared.log"
  LD_LIBRARY_PATH=$(dirname "$(find "$work/shared" -name libslide.so)")
  export LD_LIBRARY_PATH
  by_find_package "$work/shared" "$work/shared-find-package"
  by_pkg_config "$work/shared" "$work/shared-pkg-config"
  ldd "$work/shared-pkg-config/example" | grep "$LD_LIBRARY_PATH/libslide.so" > /dev/null || fail "the library is not shared"
  if nm -DC --defined-only "$LD_LIBRARY_PATH/libslide.so" | grep ' slide::' | grep -vE 'slide::(api::|(Input)?Error)'; then
    fail "the shared library shows what is its own"
  fi
}

case $part in
  tree) install_tree ;;
  files) check_files ;;
  headers) check_headers ;;
  find_package) by_find_package "$prefix" "$work/find-package" ;;
  pkg_config) by_pkg_config "$prefix" "$work/pkg-config" --static ;;
  add_subdirectory) by_add_subdirectory ;;
  *) fail "there is no part $part" ;;
esac
