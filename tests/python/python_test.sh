#!/usr/bin/env bash
# Runs a file of tests of the Python package with pytest; skipped, saying why, where a module is missing.
# usage: tests/python/python_test.sh PYTHON FOLDER_OF_PACKAGE PROGRAM TEST_FILE
# An empty PYTHON: the package was not built.
set -euo pipefail
python=${1:-}
[ -n "$python" ] || { echo "skipped: the Python module was not built; cmake says what it lacks" >&2; exit 77; }
for module in numpy scipy sklearn pytest; do
  "$python" -c "import $module" 2>/dev/null || { echo "skipped: $python has no $module" >&2; exit 77; }
done
# Threads that wait by spinning would be slow where several tests run at once.
export OMP_WAIT_POLICY=passive PYTHONPATH=$2 SLIDE_BINARY=$3 PYTHONDONTWRITEBYTECODE=1
exec "$python" -m pytest -q -p no:cacheprovider "$4"
