#!/usr/bin/env bash
# Whether scripts/package_sets.py makes its sets of file names, from a small list of files: the same files twice, of the
# sizes that the list has, which train. usage: package_sets_test.sh PYTHON SLIDE WORK_FOLDER
set -euo pipefail
python=${1:?} slide=$(realpath "${2:?}") work=${3:?}
[ -n "$python" ] || { echo "SKIPPED: no Python"; exit 77; }
script=$(realpath "$(dirname "$0")/../../scripts/package_sets.py")
rm -rf "$work"
mkdir -p "$work"
cd "$work"
# 40 packages with a folder each; a file of each stands in three of them, eight stand in one, and one in all.
for p in $(seq 0 39); do
  for f in $(seq 0 7); do echo "usr/share/pkg$p/own$p-$f.txt   misc/pkg-$p"; done
  for near in 0 1 2; do echo "usr/share/pkg$p/sharedBy$(((p + near) % 40)).h   devel/pkg-$p,devel/lib-$p"; done
  echo "usr/share/pkg$p/README with blanks   misc/pkg-$p"
done | gzip > Contents-none.gz
for out in one two; do
  "$python" -B "$script" "$out" name-directories directory-files package-files --contents Contents-none.gz > "$out.log"
done
diff -r one two
# Names drawn: of each folder two of eleven or twelve; labels: all 40 folders.
head -qn 1 one/name-directories/train.txt one/name-directories/test.txt > sizes
awk '{ samples += $1; labels = $3 } END { exit !(samples >= 40 && samples <= 80 && labels >= 30 && labels <= 40) }' sizes || { cat sizes; exit 1; }
# Names that stand in three folders or packages: those shared, and README; each folder is a sample, and each of 80 packages.
[ "$(head -qn 1 one/directory-files/t*.txt | awk '{ n += $1 } END { print (n > 20 && n <= 40) }')" = 1 ]
[ "$(head -qn 1 one/package-files/t*.txt | awk '{ n += $1 } END { print (n > 20) }')" = 1 ]
"$slide" train one/name-directories/train.txt --test one/name-directories/test.txt --epochs 1 --quiet --out run
"$python" -B "$script" other nothing 2> refused && exit 1
grep -q "there is no set 'nothing'" refused
