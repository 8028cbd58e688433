#!/usr/bin/env bash
# The packages for another machine: what each holds trains and predicts under emulation, the program of the archive where no
# library of that machine is to be found.
# usage: package_test.sh deb|tar BUILD_FOLDER EMULATOR...
set -euo pipefail
kind=$1
build=$(realpath "$2")
shift 2
sources=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "package_test.sh: $*" >&2; exit 1; }

SLIDE_PRESET=arm64 "$sources/scripts/package.sh" "$kind" "$work/packages" "$build" > "$work/package.log" 2>&1 ||
  { cat "$work/package.log"; fail "there is no package"; }
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

printf '%s\t%s\n' music 'The violin and the cello' music,nature 'Singing birds' nature 'Birds and trees' \
  music 'A concert for the cello' nature 'The forest and its trees' > "$work/train.tsv"
printf '%s\n' 'Trees in a forest' 'A cello' > "$work/asked.txt"
"$@" "$root/bin/slide" train "$root/share/doc/slide/configs/default.toml" --set data.train="$work/train.tsv" \
  --set text.min_count=1 --quiet --out "$work/run"
"$@" "$root/bin/slide" predict "$work/run" "$work/asked.txt" --k 1 > "$work/answers"
[ "$(sed 's/:.*//' "$work/answers" | tr '\n' ' ')" = 'nature music ' ] ||
  { cat "$work/answers"; fail "it predicts something else"; }
