# The distribution packages the project needs, and a function that installs those that are missing.
# To be sourced: `. scripts/packages.sh; install_packages "${build_packages[@]}"`. Names are Debian's and Ubuntu's.
# shellcheck disable=SC2034  # the lists are used by those who source this

build_packages=(
  g++ cmake ninja-build                 # compiler and build, CMake >= 3.25
  libxsimd-dev                          # SIMD wrappers
  libcli11-dev libtomlplusplus-dev      # command line, config files
  libfmt-dev nlohmann-json3-dev         # text, JSON
  libboost-dev                          # HTTP: Boost.Beast, headers alone
  zlib1g-dev libzstd-dev                # gzip and .npz, Zstandard
  libutf8proc-dev                       # Unicode
  libopenmpi-dev openmpi-bin            # several processes
  libjs-chart.js                        # figures of slide report
  libgtest-dev libbenchmark-dev curl    # tests, benchmarks
  pkg-config                            # tests of the installed library
)
python_packages=(                       # the Python package, its tests, pip without isolation
  pybind11-dev python3-dev python3-numpy python3-scipy python3-sklearn python3-pytest
  python3-tqdm python3-pip python3-setuptools python3-wheel
)
browser_packages=(chromium)             # looks at the pages of slide report and serve
oracle_packages=(python3-numpy)         # recomputes predictions
sanitizer_packages=(clang libomp-dev)   # LLVM's OpenMP comes with Archer, which tells ThreadSanitizer of its barriers
index_packages=(libhnswlib-dev libfaiss-dev libopenblas-dev)  # compared with hash tables
arm64_packages=(                        # cross build for 64-bit ARM, and an emulator
  g++-aarch64-linux-gnu qemu-user
  libfmt-dev:arm64 zlib1g-dev:arm64 libzstd-dev:arm64 libutf8proc-dev:arm64 libgtest-dev:arm64 libgomp1:arm64
)
arm64_python_packages=(libpython3-dev:arm64)  # headers of the Python module
check_packages=(clang-format clang-tidy)      # layout and checks of the sources
package_packages=(dpkg-dev patchelf)    # makes packages
package_test_packages=(debootstrap)     # makes the bare system in which tests install them
baseline_packages=(python3-torch libopenblas0-pthread fasttext)  # without OpenBLAS PyTorch multiplies with the reference BLAS

# Prints those of the given packages that are not installed, one a line.
missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || echo "$package"
  done
}

# Runs a command with administrator's rights, without ever asking for a password.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

# Lets apt install packages for 64-bit ARM beside the machine's own.
add_arm64() {
  command -v apt-get >/dev/null || return 1
  dpkg --print-foreign-architectures | grep -qx arm64 || as_root dpkg --add-architecture arm64
}

# Where there is no apt: asks CMake for each library the build looks for and names what it cannot find.
check_without_apt() {
  local absent=() tool folder
  for tool in cmake ninja c++; do command -v "$tool" >/dev/null || absent+=("$tool"); done
  if command -v cmake >/dev/null; then
    folder=$(mktemp -d)
    cat > "$folder/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(probe CXX)
foreach(name OpenMP xsimd CLI11 fmt nlohmann_json ZLIB GTest benchmark)
  find_package(${name} QUIET)
  if(NOT ${name}_FOUND)
    message("absent: ${name}")
  endif()
endforeach()
find_path(tomlplusplus toml++/toml.h)
if(NOT tomlplusplus)
  message("absent: toml++")
endif()
find_path(beast boost/beast/http.hpp)
if(NOT beast)
  message("absent: Boost headers")
endif()
find_path(utf8proc utf8proc.h)
if(NOT utf8proc)
  message("absent: utf8proc")
endif()
find_path(zstd zstd.h)
if(NOT zstd)
  message("absent: zstd")
endif()
find_file(chart_js chart.min.js PATHS /usr/share/javascript/chart.js)
if(NOT chart_js)
  message("absent: Chart.js")
endif()
CMAKE
    mapfile -t -O "${#absent[@]}" absent < <(cmake -S "$folder" -B "$folder/build" 2>&1 | sed -n 's/^absent: //p')
    rm -rf "$folder"
  fi
  [ ${#absent[@]} -eq 0 ] && return 0
  echo "This system has no apt-get, so nothing was installed. Please install: ${absent[*]}" >&2
  echo "(Debian calls what is needed: $*)" >&2
  return 1
}

# Installs those of the given packages that are missing; does nothing, fast, when none is.
install_packages() {
  command -v apt-get >/dev/null || { check_without_apt "$@"; return; }
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -eq 0 ] && return 0
  echo "Installing: ${missing[*]}"
  if [ "$(id -u)" -ne 0 ] && ! sudo -n true 2>/dev/null; then
    echo "This needs administrator's rights. Please run: sudo apt-get install ${missing[*]}" >&2
    return 1
  fi
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update || echo "apt-get update failed; going on with the old lists" >&2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "${missing[@]}"
}
