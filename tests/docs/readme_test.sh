#!/usr/bin/env bash
# Checks what the READMEs say. Runs every `bash` block of each, in order, in a fresh folder that looks like a checkout
# with a built program (blocks marked `console` are for readers only), and looks for every file, link, config key,
# metric and name in the code that they mention. Prints what is wrong as FILE:LINE and exits with 1.
# usage: tests/docs/readme_test.sh SLIDE_BINARY
set -euo pipefail
cd "$(dirname "$0")/../.."
slide=$(realpath "${1:?usage: readme_test.sh SLIDE_BINARY}")
[ -x "$slide" ] || { echo "readme_test.sh: $slide is no program" >&2; exit 2; }
readmes=(README.md configs/GUIDE.md engine/README.md engine/api/README.md lsh/README.md datasets/README.md)
# Threads that wait by spinning would be slow where several tests run at once.
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} OMP_WAIT_POLICY=passive

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
faults=0
fault() { echo "$*" >&2; faults=$((faults + 1)); }

# Writes each bash block of a file to FOLDER/<line>.sh, numbered by the line it begins in.
extract_blocks() {  # file, folder
  awk -v folder="$2" '
    /^```/ && inside { close(out); inside = 0; next }
    /^```bash[ \t]*$/ { out = sprintf("%s/%05d.sh", folder, NR + 1); inside = 1; next }
    inside { print > out }' "$1"
}

# A folder with the configs and the program in its place, and nothing that a block could harm.
make_checkout() {  # folder
  mkdir -p "$1/build/release"
  cp -r configs "$1/"
  ln -s "$slide" "$1/build/release/slide"
}

run_blocks() {  # file
  local place=$work/${1//\//_} block line
  mkdir -p "$place/blocks"
  extract_blocks "$1" "$place/blocks"
  make_checkout "$place/tree"
  for block in "$place"/blocks/*.sh; do
    [ -e "$block" ] || continue
    line=$((10#$(basename "$block" .sh)))
    (cd "$place/tree" && timeout 60 bash -euo pipefail "$block") > "$place/log" 2>&1 && continue
    fault "$1:$line: this block fails (exit code $?):"
    sed 's/^/    /' "$block" "$place/log" >&2
  done
}

# Prints LINE:TEXT for each `quoted` text outside the code blocks, and for each path of our own inside them.
mentions() {  # file
  awk '
    /^```/ { inside = !inside; next }
    inside { for (i = 1; i <= NF; ++i)
               if ($i ~ /^(scripts|configs|engine|lsh|datasets|tests)\/[A-Za-z0-9_.\/-]+$/) print NR ":" $i
             next }
    { while (match($0, /`[^`]+`/)) {
        print NR ":" substr($0, RSTART + 1, RLENGTH - 2); $0 = substr($0, RSTART + RLENGTH) } }' "$1"
}

check_links() {  # file
  local line target
  while IFS=: read -r line target; do
    target=${target#](} target=${target%)}
    [[ $target == http* ]] || [ -e "$(dirname "$1")/$target" ] || fault "$1:$line: the link $target leads nowhere"
  done < <(grep -noE '\]\([^)#]+\)' "$1")
}

declare -A words keys files
# Every word of the sources, of the program's own description of its keys, and the name of every file.
# shellcheck disable=SC2034  # words and keys are read by reference
list_words() {
  local word
  while read -r word; do words[$word]=1; done < <(
    find engine lsh datasets tests \( -name '*.h' -o -name '*.cpp' -o -name CMakeLists.txt \) -exec cat {} + |
      grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u)
  while read -r word; do keys[$word]=1; done < <("$slide" config --doc | grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u)
  while read -r word; do files[${word##*/}]=1; done < <(find engine lsh datasets tests configs scripts -type f)
}

# A path from the root or from the README's own folder, where * may stand for several, or a name alone.
is_file() {  # README, path
  compgen -G "$2" > /dev/null || compgen -G "${1%README.md}$2" > /dev/null || [ -n "${files[$2]:-}" ]
}

check_mention() {  # file, line, text
  local part known
  case $3 in
    build/* | run/* | *.slide | *.jsonl | train.txt | test.txt | config.toml) return ;;  # made by a run
    *' '* | *[!A-Za-z0-9_.:/*-]* | [_.][a-z._]*) return ;;                               # no name
    scripts/* | configs/* | engine/* | lsh/* | datasets/* | tests/* | *.h | *.cpp | *.txt | *.md | *.sh | *.toml | *'*')
      is_file "$1" "$3" || fault "$1:$2: there is no file $3"
      return ;;
    data.* | text.* | train.* | optimizer.* | loss.* | eval.* | layer.* | hash.*) known=keys ;;
    */* | *-*) return ;;
    *) [[ $1 != README.md && $1 != configs/GUIDE.md ]] || return 0; known=words ;;  # these speak of commands, not of code
  esac
  local -n dictionary=$known
  for part in ${3//[:.]/ }; do
    [[ $part =~ ^(-?[0-9]+|N)$ ]] || [ -n "${dictionary[$part]:-}" ] || fault "$1:$2: nothing is called $part (in $3)"
  done
}

check_mentions() {  # file
  local line text
  while IFS=: read -r line text; do check_mention "$1" "$line" "$text"; done < <(mentions "$1")
}

# What a run writes is explained in README.md, key by key.
check_metrics() {
  local key log=$work/README.md/tree/build/demo/run/metrics.jsonl
  [ -e "$log" ] || { fault "README.md: no run left its metrics in build/demo/run"; return; }
  for key in $(grep -oE '"[a-z_0-9]+":' "$log" | tr -d '":' | sort -u); do
    [ "$key" = event ] || grep -qF "\`$key\`" README.md || fault "README.md: the metric $key is not explained"
  done
}

# The guide says of every key when to touch it.
check_guide() {
  local section key
  while read -r section key; do
    section=${section/#layer/layer.(N|-1)}
    grep -qE "\`${section//./\\.}\.$key\`" configs/GUIDE.md || fault "configs/GUIDE.md: nothing about $section.$key"
  done < <("$slide" config --doc | awk '
    /^## / { gsub(/[^a-z.]/, ""); section = $0 }
    /^\| `/ { gsub(/`/, "", $2); print section, $2 }')
}

list_words
for readme in "${readmes[@]}"; do
  check_links "$readme"
  check_mentions "$readme"
  run_blocks "$readme"
done
check_metrics
check_guide
[ "$faults" -eq 0 ] || { echo "$faults faults in the READMEs" >&2; exit 1; }
echo "the READMEs hold: $(cat "${readmes[@]}" | grep -c '^```bash') blocks run, all names found"
