#!/usr/bin/env bash
# Makes a package and tries it in a bare system of its own: one command installs it, one predicts. The bare system is
# the distribution's smallest, made once in WORK_FOLDER by debootstrap from the mirror that this machine's apt uses;
# each test unpacks it. What mounts runs in a mount namespace, which ends with it: no mount is left, however it ends.
# usage: [SLIDE_RELEASE=trixie] tests/install/package_test.sh deb|tar|wheel|all BUILD_FOLDER WORK_FOLDER
#   deb    installed by apt with what it depends on, for the program; then scikit-learn, for Python
#   tar    unpacked into a folder with nothing else, no C library either
#   wheel  installed by pip; apt brought pip and what the wheel depends on, for there may be no other index
#   all    the three, made from the sources by one command in a bare system, where no compiler is either; each tried in
#          another one. SLIDE_RELEASE names the release of these systems, this machine's unless told
# Exit status 77 where this is not root, or there is no debootstrap or no mirror.
set -euo pipefail
kind=${1:?usage: package_test.sh deb|tar|wheel|all BUILD_FOLDER WORK_FOLDER}
build=$(realpath "${2:?}")
sources=$(realpath "$(dirname "$0")/../..")
mkdir -p "${3:?}"
work=$(realpath "$3")
packages=$work/$kind
unpacked=$work/unpacked-$kind
bare_sources=/home/slide-sources  # of packages made in a bare system
fail() { echo "package_test.sh: $*" >&2; exit 1; }
skip() { echo "SKIPPED: $*"; exit 77; }

. "$sources/tests/install/bare_system.sh"

# --- The first prediction

write_data() {  # folder
  printf '%s\t%s\n' music 'The violin and the cello' music,nature 'Singing birds' nature 'Birds and trees' \
    music 'A concert for the cello' nature 'The forest and its trees' > "$1/train.tsv"
  printf '%s\n' 'Trees in a forest' 'A cello' > "$1/asked.txt"
}

# Trains and predicts with a program in a system where train.tsv and asked.txt lie in /.
try_program() {  # program, configuration
  inside "$root" "$1" train "$2" --set data.train=/train.tsv --out /first > "$work/$kind-train.log" 2>&1 ||
    { cat "$work/$kind-train.log"; fail "$1 does not train"; }
  inside "$root" "$1" predict /first/model.slide /asked.txt --k 1 > "$work/$kind-answers"
  [ "$(sed 's/:.*//' "$work/$kind-answers" | tr '\n' ' ')" = 'nature music ' ] ||
    { cat "$work/$kind-answers"; fail "$1 predicts something else"; }
  [ "$(inside "$root" "$1" --version)" = "$version" ] || fail "$1 is of another version"
}

try_python() {
  local answers
  cat > "$root/try.py" <<'PYTHON'
import slide

texts = [line.rstrip("\n").split("\t") for line in open("/train.tsv", encoding="utf-8")]
model = slide.Classifier(text__min_count=1).fit([text for _, text in texts], [tags.split(",") for tags, _ in texts])
answers = model.predict(["Trees in a forest", "A cello"], k=1)
print(slide.__version__, " ".join(str(row[0]) for row in answers))
PYTHON
  answers=$(inside "$root" python3 /try.py 2> "$work/$kind-python.log") ||
    { tail -n 5 "$work/$kind-python.log"; fail "Python fails"; }
  [ "slide $answers" = "${version%% (*} nature music" ] || fail "Python predicts something else: $answers"
}

# Nothing in a package names the folders it was made in.
check_clean() {  # folder
  if grep -rlF -e "$sources" -e "$build" -e "$work" -e "$bare_sources" "$1"; then fail "these files name folders of the build"; fi
}

# No file needs more than glibc 2.31, that of Debian 11 and Ubuntu 20.04.
check_glibc() {  # file...
  local newest
  newest=$(objdump -T "$@" | sed -n 's/.*[( ]GLIBC_\(2\.[0-9]*\).*/\1/p' | sort -V | tail -n 1)
  [ "$(printf '%s\n' "${newest:-2.0}" 2.31 | sort -V | tail -n 1)" = 2.31 ] || fail "a file needs glibc $newest"
  if objdump -T "$@" | grep -E 'GLIBCXX|CXXABI'; then fail "a file needs the system's libstdc++"; fi
}

# What has no older version is refused, and the file stays.
check_lowering() {
  local library=$work/$kind-lowered.so
  cp "$(realpath "$unpacked"/slide.libs/libgomp*)" "$library"
  if python3 "$sources/scripts/older_glibc.py" --newest 2.10 "$library" 2> "$work/$kind-lowered"; then
    fail "older_glibc.py finds a memcpy before 2.14 that copies as that one"
  fi
  grep 'needs .*memcpy@GLIBC_2.14.*, which has no version up to 2.10' "$work/$kind-lowered" > /dev/null ||
    { cat "$work/$kind-lowered"; fail "older_glibc.py says something else"; }
  cmp "$library" "$unpacked"/slide.libs/libgomp*
}

# --- The packages

test_deb() {
  local file left name
  file=$(echo "$packages"/slide_*.deb)
  name=$(basename "$file")
  dpkg-deb -x "$file" "$unpacked"
  check_clean "$unpacked"
  bare_root
  cp "$file" "$root/"
  write_data "$root"
  inside "$root" apt-get -s install "/$name" > "$work/$kind-apt.log"
  for file in python3-sklearn openmpi-bin; do
    grep -q "^Inst $file " "$work/$kind-apt.log" || fail "apt would not install $file with it"
  done
  # Without what is recommended, that would bring some hundred packages more.
  apt_in_root --no-install-recommends "/$name" || { cat "$work/$kind-apt.log"; fail "apt does not install it"; }
  try_program slide /usr/share/doc/slide/configs/default.toml
  apt_in_root --no-install-recommends python3-sklearn || { cat "$work/$kind-apt.log"; fail "there is no scikit-learn"; }
  try_python
  for file in include/slide/slide.h lib/libslide.a lib/pkgconfig/slide.pc lib/cmake/slide/slide-config.cmake \
      share/man/man1/slide.1.gz share/bash-completion/completions/slide share/doc/slide/{copyright,changelog.gz} \
      lib/systemd/system/slide-serve.service; do
    [ -s "$unpacked/usr/$file" ] || fail "the package lacks /usr/$file"
  done
  inside "$root" apt-get -qq -y purge slide > "$work/$kind-apt.log" 2>&1 ||
    { cat "$work/$kind-apt.log"; fail "apt does not remove it"; }
  left=$(cd "$unpacked" && find . -type f | while read -r file; do [ ! -e "$root/$file" ] || echo "$file"; done)
  [ -z "$left" ] && [ ! -e "$root/usr/lib/python3/dist-packages/slide" ] || fail "files are left behind: $left"
}

test_tar() {
  local name
  mkdir -p "$root/proc" "$root/dev"
  tar -C "$root" -xzf "$packages"/slide-*.tar.gz
  name=$(basename "$root"/slide-*)
  check_clean "$root/$name"
  write_data "$root"
  [ -z "$(find "$root" -name '*.so*')" ] || fail "there are shared libraries in the archive"
  if readelf -d "$root/$name/bin/slide" | grep NEEDED; then fail "the program needs a C library"; fi
  try_program "/$name/bin/slide" "/$name/share/doc/slide/configs/default.toml"
  # As it is without /proc, too.
  chroot "$root" "/$name/bin/slide" predict /first/model.slide /asked.txt --k 1 | cmp - "$work/$kind-answers"
  (OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 "$root/$name/bin/slide" train \
    "$root/$name/share/doc/slide/configs/default.toml" --set data.train="$root/train.tsv" --out "$root/second" 2>&1 || true) \
    > "$work/$kind-mpi"
  grep -q 'linked statically' "$work/$kind-mpi" || { cat "$work/$kind-mpi"; fail "it says nothing about MPI"; }
  for file in share/man/man1/slide.1 share/bash-completion/completions/slide share/doc/slide/{copyright,CHANGELOG.md} \
      lib/systemd/system/slide-serve.service; do
    [ -s "$root/$name/$file" ] || fail "the archive lacks $file"
  done
}

test_wheel() {
  local file
  file=$(echo "$packages"/slide-*.whl)
  [[ $file == *manylinux_2_[0-9]*_$(uname -m).whl ]] || fail "$file is for no manylinux"
  mkdir -p "$unpacked"
  (cd "$unpacked" && python3 -m zipfile -e "$file" .)
  check_clean "$unpacked"
  check_glibc "$unpacked"/slide/_slide*.so "$unpacked"/slide.libs/*
  check_lowering
  bare_root
  cp "$file" "$root/"
  write_data "$root"
  apt_in_root --no-install-recommends python3-pip python3-numpy python3-scipy ||
    { cat "$work/$kind-apt.log"; fail "there are no Python packages"; }
  inside "$root" python3 -m pip install --quiet --no-index --break-system-packages "/$(basename "$file")" \
    > "$work/$kind-pip.log" 2>&1 ||
    { cat "$work/$kind-pip.log"; fail "pip does not install $file"; }
  try_python
  apt_in_root --no-install-recommends python3-sklearn || { cat "$work/$kind-apt.log"; fail "there is no scikit-learn"; }
  try_python
}

# --- Where they are made

# The packages as the build gives them; sets version.
make_here() {
  [ "$kind" != wheel ] || [ -d "$build/python" ] || skip "the build has no Python package"
  "$sources/scripts/package.sh" "$kind" "$packages" "$build" > "$work/$kind.log" 2>&1 ||
    { cat "$work/$kind.log"; fail "the package cannot be made"; }
  version=$("$build/slide" --version)
}

# All packages by one command from the sources, in a bare system; sets version.
make_in_bare() {
  bare_root
  mkdir -p "$root$bare_sources" "$packages"
  git -C "$sources" ls-files -z | tar -C "$sources" --null -T - -c | tar -C "$root$bare_sources" -x
  inside "$root" "$bare_sources/scripts/package.sh" all /packages > "$work/$kind.log" 2>&1 ||
    { tail -n 40 "$work/$kind.log"; fail "a bare system of $release makes no packages"; }
  mv "$root"/packages/* "$packages/"
  version=$(inside "$root" "$bare_sources/build/release/slide" --version)
}

clean_up() {
  rm -rf --one-file-system "$unpacked"
  remove_systems
}
trap clean_up EXIT
rm -rf --one-file-system "$packages" "$root" "$unpacked"
kinds=$kind
if [ "$kind" = all ]; then
  kinds="deb tar wheel"
  make_in_bare
else
  make_here
fi
for kind in $kinds; do
  rm -rf --one-file-system "$root" "$unpacked"
  "test_$kind"
done
echo "$(cd "$packages" && echo slide*): installed in a bare $release and tried"
