#!/usr/bin/env bash
# Makes packages of a release build, which is built first where it is not: a Debian package, an archive that needs
# nothing of the system but a kernel, a wheel for the version of Python that the build found. What they hold was compiled once.
# usage: [SLIDE_PRESET=arm64] scripts/package.sh deb|tar|wheel|all [FOLDER [BUILD]]
#   FOLDER  where the packages go, build/packages unless told
#   BUILD   the folder of the build, build/release unless told, or build/SLIDE_PRESET
#   SLIDE_PRESET=arm64  for 64-bit ARM, by a cross compiler
# Exit code: 0, 1 where a package cannot be made or would need what is not everywhere.
set -euo pipefail
kind=${1:-}
[[ $kind =~ ^(deb|tar|wheel|all)$ ]] || { sed -n '2,/^# Exit code/s/^# \{0,1\}//p' "$0"; exit 2; }
cd "$(dirname "$0")/.."
. scripts/packages.sh
. scripts/data.sh
mkdir -p "${2:-build/packages}"
folder=$(realpath "${2:-build/packages}")
preset=${SLIDE_PRESET:-release}
build=$(realpath -m "${3:-build/$preset}")
sources=$PWD
work=$folder/work
fail() { echo "package.sh: $*" >&2; exit 1; }

# The times of files in packages: that of the commit.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || stat -c %Y CMakeLists.txt)}
export SOURCE_DATE_EPOCH

has_target() { cmake --build "$build" --target help 2> /dev/null | grep "^$1: " > /dev/null; }  # target

configure() {  # argument of cmake...
  cmake "$@" > "$work/configure.log" 2>&1 || { cat "$work/configure.log" >&2; fail "cmake fails"; }
}

install_for_python() {
  install_packages "${python_packages[@]}" || return 0
  [ "$preset" != arm64 ] || install_packages "${arm64_python_packages[@]}" || return 0
}

# Configures the build where it is not. One without the Python package, as scripts/quickstart.sh makes it where
# pybind11 is missing, is configured again with what that takes, but not where -DSLIDE_BUILD_PYTHON=OFF left it out.
prepare_build() {
  if [ ! -e "$build/CMakeCache.txt" ]; then
    install_packages "${build_packages[@]}"
    if [ "$preset" = arm64 ]; then
      { add_arm64 && install_packages "${arm64_packages[@]}"; } ||
        fail "this needs apt-get, and Debian's packages for arm64"
    fi
    [ "$kind" = tar ] || install_for_python
    configure --preset "$preset" -B "$build"
  elif [ "$kind" != tar ] && [ "$(cached SLIDE_BUILD_PYTHON)" != OFF ] && ! has_target slide_python_package; then
    install_for_python
    configure "$build"
  fi
  [ "$kind" = tar ] || has_target slide_python_package ||
    echo "There will be no Python package: $(grep 'No Python module' "$work/configure.log" 2> /dev/null || echo SLIDE_BUILD_PYTHON is OFF)" >&2
}

build_targets() {  # target...
  cmake --build "$build" -j "$(jobs_at_once)" --target "$@" > "$work/build.log" 2>&1 ||
    { tail -n 40 "$work/build.log" >&2; fail "the build fails"; }
}

cached() { sed -n "s/^$1:[A-Za-z]*=//p" "$build/CMakeCache.txt"; }  # name of a setting
version() { cached CMAKE_PROJECT_VERSION; }
compiler() { sed -n 's/^set(CMAKE_CXX_COMPILER "\(.*\)")$/\1/p' "$build"/CMakeFiles/*/CMakeCXXCompiler.cmake | tail -n 1; }
processor() { sed -n 's/^set(CMAKE_SYSTEM_PROCESSOR "\(.*\)")$/\1/p' "$build"/CMakeFiles/*/CMakeSystem.cmake | tail -n 1; }

# The targets that `cmake --install` copies.
installed_targets() {
  echo slide slide_library slide_shell_files
  ! has_target slide_mpi || echo slide_mpi
  ! has_target slide_python_package || echo slide_python_package
}

# What a package says of the rights on what is compiled into it, from the copyright files of those packages.
copyright_of() {  # package...
  local package
  printf 'SLIDE. Its sources state no licence.\n\nIt holds parts of other works, whose notices follow.\n'
  for package in "$@"; do
    [ -e "/usr/share/doc/$package/copyright" ] || fail "there is no /usr/share/doc/$package/copyright"
    printf '\n\n==== %s\n\n' "$package"
    # Of Boost, whose files have hundreds of owners and one licence, the licence.
    [[ $package == libboost* ]] || { cat "/usr/share/doc/$package/copyright"; continue; }
    awk 'BEGIN { RS = "" } /^License: BSL-1.0/ && /Permission is hereby/ { print; exit }' \
      "/usr/share/doc/$package/copyright"
  done
}
headers=(libfmt-dev libtomlplusplus-dev nlohmann-json3-dev libxsimd-dev libjs-chart.js)  # in the library
# In the program; what holds the headers of Boost is known once they are installed.
in_program() { printf '%s\n' libcli11-dev "$(dpkg -S '*/boost/version.hpp' | sed -n '1s/:.*//p')"; }

make_deb() {
  local targets program python=()
  read -ra targets <<< "$(installed_targets | tr '\n' ' ')"
  build_targets "${targets[@]}"
  ! has_target slide_python_package || python=(pybind11-dev)
  mapfile -t program < <(in_program)
  copyright_of "${headers[@]}" "${program[@]}" "${python[@]}" > "$work/copyright"
  (cd "$build" && SLIDE_COPYRIGHT=$work/copyright cpack -G DEB -B "$work/deb" > "$work/deb.log" 2>&1) ||
    { cat "$work/deb.log" >&2; fail "there is no Debian package"; }
  mv "$work"/deb/slide_*.deb "$folder/"
}

make_tar() {
  local targets program name root
  name=slide-$(version)-$(processor)-linux
  root=$work/$name
  read -ra targets <<< "$(installed_targets | tr '\n' ' ')"
  build_targets "${targets[@]}" slide_static
  if readelf -ld "$build/slide_static" | grep -E 'NEEDED|INTERP'; then fail "the program is not static"; fi
  rm -rf "$root" "$work/installed"
  cmake --install "$build" --prefix "$work/installed" > "$work/install.log"
  mkdir -p "$root/bin"
  "$(cached CMAKE_STRIP)" -o "$root/bin/slide" "$build/slide_static"
  mv "$work/installed/share" "$root/"
  mkdir -p "$root/lib"
  mv "$work/installed/lib/systemd" "$root/lib/"
  mapfile -t program < <(in_program)
  copyright_of "${headers[@]}" "${program[@]}" libc6 libgcc-s1 libutf8proc-dev libzstd-dev zlib1g-dev > \
    "$root/share/doc/slide/copyright"
  chmod -R u=rwX,go=rX "$root"
  tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -c "$name" |
    gzip -9n > "$folder/$name.tar.gz"
}

# --- The wheel: pip's, with OpenMP's library beside the module, which holds all others, and named after the
# glibc of the oldest systems that it runs on (PEP 600), Debian 11 and Ubuntu 20.04. What every system has:
everywhere='^(ld-linux.*|lib(c|m|dl|rt|pthread|gcc_s))\.so\.[0-9]+$'
oldest_tried=31  # glibc 2.31

needed_by() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }  # file

# Copies what a file needs into a folder, under a name of its own, and that in turn; $ORIGIN leads there.
bundle() {  # file, folder, way to it
  local library path copy
  for library in $(needed_by "$1"); do
    ! [[ $library =~ $everywhere ]] || continue
    path=$("$(compiler)" -print-file-name="$library")
    [ -e "$path" ] || fail "the wheel would need $library, which is not found"
    copy=${library%%.so*}-$(sha256sum "$path" | cut -c 1-8).so${library#*.so}
    if [ ! -e "$2/$copy" ]; then
      install -D -m 755 "$path" "$2/$copy"
      bundle "$2/$copy" "$2" .
      patchelf --set-soname "$copy" "$2/$copy"
    fi
    patchelf --replace-needed "$library" "$copy" "$1"
  done
  patchelf --set-rpath "\$ORIGIN/$3" "$1"
}

# Makes files need no newer glibc than they must. What older ones have in libpthread and libdl is in libc on this one.
lower_glibc() {  # file...
  local file
  for file in "$@"; do patchelf --add-needed libpthread.so.0 --add-needed libdl.so.2 "$file"; done
  python3 scripts/older_glibc.py --newest "2.$oldest_tried" --compiler "$(compiler)" "$@" || fail "the wheel would run on new systems alone"
}

# The second number of the newest glibc 2.N of which files need something.
newest_glibc() {  # file...
  objdump -T "$@" | sed -n 's/.*GLIBC_2\.\([0-9]*\).*/\1/p' | sort -n | tail -n 1
}

make_wheel() {
  local python module tree machine
  has_target slide_python_package || fail "a wheel takes the Python package, which this build lacks"
  has_target slide_wheel || fail "a wheel takes the static libraries of zlib, zstd and utf8proc, which this system lacks"
  [ -n "$(command -v patchelf)" ] || install_packages "${package_packages[@]}"
  build_targets slide_wheel
  python=$(cached Python_EXECUTABLE)
  module=$(echo "$build"/python/wheel/_slide*.so)
  machine=$(processor)
  rm -rf "$work/wheel" && mkdir -p "$work/wheel"
  SLIDE_MODULE=$module _PYTHON_HOST_PLATFORM=linux-$machine "$python" -m pip wheel --quiet --no-deps --no-index -w "$work/wheel" \
    "$sources/engine/python" > "$work/wheel.log" 2>&1 || { cat "$work/wheel.log" >&2; fail "pip makes no wheel"; }
  "$python" -m wheel unpack -d "$work/wheel" "$work"/wheel/slide-*.whl > "$work/wheel.log"
  tree=$work/wheel/slide-$(version)
  module=$(echo "$tree"/slide/_slide*.so)
  "$(cached CMAKE_STRIP)" --strip-unneeded "$module"
  patchelf --remove-rpath "$module"
  bundle "$module" "$tree/slide.libs" ../slide.libs
  lower_glibc "$module" "$tree"/slide.libs/*
  [ "$(newest_glibc "$module" "$tree"/slide.libs/*)" -le "$oldest_tried" ] || fail "the wheel needs a newer glibc"
  sed -i "s/^\(Tag: .*\)-linux_.*/\1-manylinux_2_${oldest_tried}_$machine/" "$tree"/slide-*.dist-info/WHEEL
  copyright_of "${headers[@]}" pybind11-dev libgcc-s1 libutf8proc-dev libzstd-dev zlib1g-dev \
    > "$(echo "$tree"/slide-*.dist-info)/copyright"
  "$python" -m wheel pack -d "$folder" "$tree" >> "$work/wheel.log"
}

install_packages "${package_packages[@]}" || fail "packages that this takes are missing"
mkdir -p "$work"
prepare_build
case $kind in
  all) make_deb; make_tar; make_wheel ;;
  *) "make_$kind" ;;
esac
rm -rf "$work"
ls -l "$folder"
