#!/bin/sh
# shared_code_test.sh NM OBJECT...: no object file of an instruction set may hold a function that the linker could keep
# for all (weak, or unique in the process): it would run on machines that lack the set. All have scalar and, of ARM, neon.
set -eu
nm=$1
shift
checked=0
failed=0
for object in "$@"; do
  case $object in
    *kernels_scalar.* | *kernels_neon.*) continue ;;
    *kernels_*) ;;
    *) continue ;;
  esac
  checked=$((checked + 1))
  if "$nm" -C --defined-only "$object" | grep -E ' [Wu] '; then
    echo "FAILED: the functions above are shared: $object"
    failed=1
  fi
done
if [ "$checked" -eq 0 ]; then
  echo "SKIPPED: no instruction sets in this build but those that all machines have"
  exit 77
fi
exit $failed
