#!/usr/bin/env bash
# The packages for another machine: what each holds trains and predicts under emulation, the program of the archive where no
# library of that machine is to be found, the wheel with the interpreter, NumPy and SciPy that Debian has for it.
# usage: package_test.sh deb|tar|wheel BUILD_FOLDER EMULATOR...
# Exit status 77 where there are no packages of Debian for the wheel's interpreter, or not its headers.
set -euo pipefail
kind=$1
build=$(realpath "$2")
shift 2
sources=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "package_test.sh: $*" >&2; exit 1; }
skip() { echo "SKIPPED: $*"; exit 77; }
[ "$kind" != wheel ] || [ -d "$build/python" ] || skip "the build has no Python package (libpython3-dev:arm64)"

write_data() {  # folder
  printf '%s\t%s\n' music 'The violin and the cello' music,nature 'Singing birds' nature 'Birds and trees' \
    music 'A concert for the cello' nature 'The forest and its trees' > "$1/train.tsv"
  printf '%s\n' 'Trees in a forest' 'A cello' > "$1/asked.txt"
}

# Unpacks Debian's Python with NumPy and SciPy for the other machine, and what these depend on.
unpack_python() {  # folder
  local mirror package
  [ -n "$(command -v debootstrap)" ] || skip "there is no debootstrap (package debootstrap)"
  . "$sources/tests/install/apt_sources.sh"
  mirror=$(own_mirror)
  [ -n "$mirror" ] || skip "apt names no mirror of $own_release; apt-get update brings its lists"
  debootstrap --arch=arm64 --variant=minbase --include=python3-scipy --download-only "$own_release" "$work/debs" \
    "$mirror" > "$work/debootstrap.log" 2>&1 ||
    { tail -n 5 "$work/debootstrap.log"; skip "debootstrap brings no packages of $own_release"; }
  for package in "$work"/debs/var/cache/apt/archives/*.deb; do
    [[ $package =~ -dev_|/linux-|/binutils|/cpp|/g[+c]+- ]] || dpkg-deb -x "$package" "$1"
  done
  rm -rf "$work/debs"
}

test_wheel() {  # emulator...
  local wheel system=$work/system answers
  wheel=$(echo "$work"/packages/slide-*.whl)
  [[ $wheel == *-manylinux_2_[0-9]*_aarch64.whl ]] || fail "$wheel is for another machine"
  unpack_python "$system"
  mkdir -p "$work/site"
  (cd "$work/site" && python3 -m zipfile -e "$wheel" .)
  if objdump -T "$work"/site/slide/_slide*.so | grep -E 'GLIBCXX|CXXABI'; then fail "the module needs the system's libstdc++"; fi
  write_data "$work"
  cat > "$work/try.py" <<'PYTHON'
import sys

import slide

texts = [line.rstrip("\n").split("\t") for line in open(sys.argv[1], encoding="utf-8")]
model = slide.Classifier(text__min_count=1).fit([text for _, text in texts], [tags.split(",") for tags, _ in texts])
print(" ".join(str(row[0]) for row in model.top_k(["Trees in a forest", "A cello"], k=1)))
PYTHON
  answers=$(PYTHONHOME=$system/usr PYTHONPATH=$work/site:$system/usr/lib/python3/dist-packages OMP_NUM_THREADS=1 \
    LD_LIBRARY_PATH=$(echo "$system"/usr/lib/aarch64-linux-gnu/{blas,lapack} | tr ' ' :) \
    "$@" -L "$system" "$system/usr/bin/python3" "$work/try.py" "$work/train.tsv") || fail "Python fails"
  [ "$answers" = 'nature music' ] || fail "Python predicts something else: $answers"
}

SLIDE_PRESET=arm64 "$sources/scripts/package.sh" "$kind" "$work/packages" "$build" > "$work/package.log" 2>&1 ||
  { cat "$work/package.log"; fail "there is no package"; }
if [ "$kind" = wheel ]; then
  test_wheel "$@"
  exit 0
fi
if [ "$kind" = deb ]; then
  package=$(echo "$work"/packages/slide_*_arm64.deb)
  [ "$(dpkg-deb -f "$package" Architecture)" = arm64 ] || fail "the package is for another architecture"
  dpkg-deb -f "$package" Depends | grep 'libgomp1' > /dev/null || fail "no libraries of the program are depended on"
  dpkg-deb -x "$package" "$work/unpacked"
  root=$work/unpacked/usr
else
  tar -C "$work" -xzf "$work"/packages/slide-*-aarch64-linux.tar.gz
  root=$(echo "$work"/slide-*-aarch64-linux)
  export QEMU_LD_PREFIX=$work
  if readelf -ld "$root/bin/slide" | grep -E 'NEEDED|INTERP'; then fail "the program is not static"; fi
fi
readelf -h "$root/bin/slide" | grep 'Machine: *AArch64' > /dev/null || fail "the program is for another machine"
[ -n "$(ls "$root"/share/man/man1/slide.1*)" ] || fail "there is no manual page"

write_data "$work"
"$@" "$root/bin/slide" train "$root/share/doc/slide/configs/default.toml" --set data.train="$work/train.tsv" \
  --set text.min_count=1 --quiet --out "$work/run"
"$@" "$root/bin/slide" predict "$work/run" "$work/asked.txt" --k 1 > "$work/answers"
[ "$(sed 's/:.*//' "$work/answers" | tr '\n' ' ')" = 'nature music ' ] ||
  { cat "$work/answers"; fail "it predicts something else"; }
