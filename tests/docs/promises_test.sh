#!/usr/bin/env bash
# Whether the tests that engine/PROMISES.md names are there.
# usage: promises_test.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

mapfile -t names < <(grep -oE '`[A-Z][A-Za-z0-9]*\.[A-Z][A-Za-z0-9]*`' engine/PROMISES.md | tr -d '`' | sort -u)
[ ${#names[@]} -ge 40 ] || { echo "engine/PROMISES.md names ${#names[@]} tests only" >&2; exit 1; }
absent=0
for name in "${names[@]}"; do
  grep -rqE "^TEST(_F|_P)?\(${name%.*}, ${name#*.}\)" --include='*_test.cpp' tests ||
    { echo "engine/PROMISES.md: there is no test $name" >&2; absent=1; }
done
[ $absent -eq 0 ] || exit 1
echo "the ${#names[@]} tests that engine/PROMISES.md names are there"
