#!/usr/bin/env bash
# Checks what the pages say, every Markdown file of the tree. Runs the `bash` blocks of each, in order, in a fresh
# folder that looks like a checkout with a built program (blocks marked `console` are for readers only): README.md
# first, every other page behind it, on what README.md made. Looks for each file, link, section, config key, option
# and name in the code that a page mentions. Prints what is wrong as FILE:LINE and exits with 1.
# usage: tests/docs/readme_test.sh SLIDE_BINARY
set -euo pipefail
cd "$(dirname "$0")/../.."
slide=$(realpath "${1:?usage: readme_test.sh SLIDE_BINARY}")
[ -x "$slide" ] || { echo "readme_test.sh: $slide is no program" >&2; exit 2; }

code_pages=(engine/README.md lsh/README.md datasets/README.md)  # every name they quote stands in the sources
stops_pages=(engine/README.md)       # ten numbered stops, each with a link to a function
awaited=()                           # pages that may be linked before they are there
max_lines=150                       # of README.md
max_lines_of_pages=250              # of every other page
# Threads that wait by spinning would be slow where several tests run at once.
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} OMP_WAIT_POLICY=passive

mapfile -t pages < <(find . -name '*.md' -not -path './build/*' -not -path './run/*' -not -path './.git/*' -not -path './.cache/*' |
  sed 's|^\./||' | sort | awk '$0 == "README.md" { print; next } { later = later $0 "\n" } END { printf "%s", later }')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
faults=0
fault() { echo "$*" >&2; faults=$((faults + 1)); }
one_of() { local x=$1; shift; [[ " $* " == *" $x "* ]]; }

# --- Blocks

# Writes each bash block of a file to FOLDER/<line>.sh, numbered by the line it begins in.
extract_blocks() {  # file, folder
  awk -v folder="$2" '
    /^```/ && inside { close(out); inside = 0; next }
    /^```bash[ \t]*$/ { out = sprintf("%s/%05d.sh", folder, NR + 1); inside = 1; next }
    inside { print > out }' "$1"
}

# A folder with the configs and the program in its place, and nothing that a block could harm; for all pages but
# README.md with what README.md made.
make_checkout() {  # folder
  mkdir -p "$1/build/release"
  cp -r configs "$1/"
  ln -s "$slide" "$1/build/release/slide"
  [ ! -d "$work/README.md/tree/build/demo" ] || cp -r "$work/README.md/tree/build/demo" "$1/build/"
}

run_blocks() {  # file
  local place=$work/${1//\//_} block line
  grep -q '^```bash' "$1" || return 0
  mkdir -p "$place/blocks"
  extract_blocks "$1" "$place/blocks"
  make_checkout "$place/tree"
  for block in "$place"/blocks/*.sh; do
    line=$((10#$(basename "$block" .sh)))
    (cd "$place/tree" && timeout 300 bash -euo pipefail "$block") > "$place/log" 2>&1 && continue
    fault "$1:$line: this block fails (exit code $?):"
    sed 's/^/    /' "$block" "$place/log" >&2
  done
}

# --- Links

# Prints PAGE, LINE, TEXT and TARGET of each link outside the code blocks, with a separator that no page holds.
links() {  # file...
  awk '
    FNR == 1 { inside = 0 }
    /^```/ { inside = !inside }
    inside { next }
    { while (match($0, /\]\([^() ]+\)/)) {
        text = substr($0, 1, RSTART - 1); sub(/.*\[/, "", text)
        target = substr($0, RSTART + 2, RLENGTH - 3)
        if (target !~ /^http.*:/) print FILENAME "\037" FNR "\037" text "\037" target
        $0 = substr($0, RSTART + RLENGTH) } }' "$@"
}

# The same with the file that each leads to, from the root, in front.
resolved_links() {  # file...
  links "$@" > "$work/links"
  awk -F '\037' '
    { folder = $1; if (!sub(/\/[^\/]*$/, "", folder)) folder = "."
      sub(/#.*/, "", $4); print $4 == "" ? $1 : folder "/" $4 }' "$work/links" |
    xargs -d '\n' realpath -m --relative-to=. | paste -d $'\037' - "$work/links"
}

# Prints the name by which each heading can be linked.
sections() {  # file
  awk '
    /^```/ { inside = !inside }
    inside || !/^#+ / { next }
    { name = tolower($0); sub(/^#+ +/, "", name); gsub(/[^a-z0-9 _-]/, "", name); gsub(/ /, "-", name)
      print seen[name]++ ? name "-" seen[name] - 1 : name }' "$1"
}

# Prints the name where the text of a link is that of a function or a type: `step`, `Trainer::step`, `Trainer`.
name_in_code() {  # text
  [[ $1 =~ ^\`(([A-Za-z_][A-Za-z0-9_]*::)*~?[A-Za-z_][A-Za-z0-9_]*)(\(\))?\`$ ]] && echo "${BASH_REMATCH[1]}"
}

declare -A sections_of linked=([README.md]=1)
check_links() {
  local path page line text target name
  while IFS=$'\037' read -r path page line text target; do
    linked[$path]=1
    if ! one_of "$path" "${awaited[@]}" && [ ! -e "$path" ]; then
      fault "$page:$line: the link $target leads nowhere"
    elif [[ $target == *'#'* && -e $path ]]; then
      [ -n "${sections_of[$path]:-}" ] || sections_of[$path]=$'\n'$(sections "$path")$'\n'
      [[ ${sections_of[$path]} == *$'\n'"${target#*#}"$'\n'* ]] || fault "$page:$line: $path has no section #${target#*#}"
    elif [[ $path == *.h || $path == *.cpp ]] && name=$(name_in_code "$text"); then
      awk -v name="$name" -f tests/docs/defines.awk "$path" || fault "$page:$line: $path does not define $name"
    fi
  done < <(resolved_links "${pages[@]}")
  # A page that no other links to is found by nobody.
  for page in "${pages[@]}"; do [ -n "${linked[$page]:-}" ] || fault "$page: no other page links to it"; done
}

# Where a page goes through numbered stops, `**1. From ...`, each of the ten links to a function of the code.
check_stops() {  # file
  local line text target name stop=0
  local -A found
  while IFS=$'\037' read -r line text target; do
    if [ -z "$target" ]; then stop=$text; continue; fi
    if [[ $target == *.h || $target == *.cpp ]] && name=$(name_in_code "$text") && [[ ${name##*::} == [a-z_]* ]]; then
      found[$stop]=1
    fi
  done < <({ links "$1" | cut -d $'\037' -f 2-
             awk '/^#/ { print NR "\037" 0 "\037" }
                  match($0, /^\*\*[0-9]+\./) { print NR "\037" substr($0, 3, RLENGTH - 3) "\037" }' "$1"
           } | sort -t $'\037' -s -k1,1n -k3,3)
  for stop in 1 2 3 4 5 6 7 8 9 10; do
    [ -n "${found[$stop]:-}" ] ||
      fault "$1: stop $stop has no link to a function, as [\`Class::function\`](path/file.cpp)"
  done
}

# --- Names

declare -A words keys options files
# Every word of the sources, every config key, every option of the program and the scripts, and the name of every file.
list_names() {
  local word
  while read -r word; do words[$word]=1; done < <(
    find engine lsh datasets tests \( -name '*.h' -o -name '*.cpp' -o -name CMakeLists.txt \) -exec cat {} + |
      grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u)
  while read -r word; do keys[$word]=1; done < <(config_keys)
  while read -r word; do options[$word]=1; done < <(
    { for word in $(commands); do options_of "$word"; done
      grep -rohE -e '--[a-z][a-z-]+' scripts tests/bench; } | sort -u)
  while read -r word; do files[${word##*/}]=1; done < <(find engine lsh datasets tests configs scripts -type f)
}

config_keys() {
  "$slide" config --doc | awk '
    /^## / { gsub(/[^a-z.]/, ""); section = $0 }
    /^\| `/ { gsub(/`/, "", $2); print section "." $2 }'
}

commands() { "$slide" --help | awk '/^Subcommands:/ { on = 1; next } !NF { on = 0 } on && /^  [a-z]/ { print $1 }'; }
options_of() { "$slide" "$1" --help | grep -oE '^  -[-a-z,]+' | grep -oE -e '--[a-z-]+'; }  # command

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

# A path from the root or from the page's own folder, where * may stand for several, or a name alone.
is_file() {  # page, path
  local path=${2%/} name
  compgen -G "$path" > /dev/null || compgen -G "$(dirname "$1")/$path" > /dev/null || [ -n "${files[$path]:-}" ] && return
  [[ $path == *'*'* && $path != */* ]] || return 1
  # shellcheck disable=SC2053  # a pattern is what is meant
  for name in "${!files[@]}"; do [[ $name != $path ]] || return 0; done
  return 1
}

# layer.N.size, layer.-1.size, layer.size and, under [layer.hash], hash.k.
check_key() {  # file, line, key
  local key=$3
  [[ ! $key =~ ^layer\.(N|-?[0-9]+)\.(.*)$ ]] || key=layer.${BASH_REMATCH[2]}
  [[ $key != hash.* ]] || key=layer.$key
  [ -n "${keys[$key]:-}" ] || fault "$1:$2: there is no config key $3"
}

check_words() {  # file, line, text
  local part
  for part in ${3//[:.]/ }; do
    [[ $part =~ ^-?[0-9]+$ ]] || [ -n "${words[$part]:-}" ] || fault "$1:$2: nothing is called $part (in $3)"
  done
}

check_mention() {  # file, line, text
  local text=$3 sections='(data|text|train|optimizer|loss|eval|neighbours|layer|hash)'
  case $text in
    build/* | run/* | *.slide | *.jsonl | train.txt | test.txt | config.toml) return ;;  # made by a run
    [XY].* | trn_X_*) return ;;                                                          # data, as others name it
    --[a-z]*)
      [ -n "${options[${text%%[ =]*}]:-}" ] || fault "$1:$2: there is no option ${text%%[ =]*}"
      [[ $text == '--set '* ]] || return 0
      text=${text#--set } ;;
  esac
  if [[ ! $text =~ ^[a-z]+\.(h|cpp|sh|py|txt)$ && $text =~ ^($sections(\.(N|-?[0-9]+))?(\.[a-z_0-9]+)+)(\ ?=.*)?$ ]]; then
    check_key "$1" "$2" "${BASH_REMATCH[1]}"
    return
  fi
  case $text in
    *' '* | *[!A-Za-z0-9_.:/*-]* | [_.][a-z._]*) return ;;                               # no name
    scripts/* | configs/* | engine/* | lsh/* | datasets/* | tests/* | [a-z]*/ | *'*' | \
      *.h | *.cpp | *.txt | *.md | *.sh | *.py | *.toml)
      is_file "$1" "$text" || fault "$1:$2: there is no file $text" ;;
    */* | *-*) ;;
    *) ! one_of "$1" "${code_pages[@]}" || check_words "$1" "$2" "$text" ;;
  esac
}

check_mentions() {  # file
  local line text
  while IFS=: read -r line text; do check_mention "$1" "$line" "$text"; done < <(mentions "$1")
}

# --- What a page must hold

# Every name that a pattern finds in the files stands on the page.
check_explained() {  # page, page whose blocks made the files, what they hold, pattern, file...
  local page=$1 place=$work/${2//\//_}/tree what=$3 pattern=$4 name
  shift 4
  for name in "$@"; do [ -s "$place/$name" ] || { fault "$2: no block made $name"; return; }; done
  for name in $(cd "$place" && grep -ohE "$pattern" "$@" | sed 's/.* //; s/[":]//g' | sort -u); do
    [ "$name" = event ] || grep -qF "\`$name\`" "$page" || fault "$page: the $what $name is not explained"
  done
}

# configs/KEYS.md says of every key when to change it.
check_keys() {
  local key pattern
  for key in "${!keys[@]}"; do
    pattern=${key/#layer./layer.(N|-1).}
    grep -qE "\`${pattern//./\\.}\`" configs/KEYS.md || fault "configs/KEYS.md: nothing about $key"
  done
}

# The pages of the commands have a section for each, with its options, or name it in another.
check_commands() {
  local folder=engine/cli command option section
  for command in $(commands); do
    grep -q "slide $command" "$folder/README.md" || fault "$folder/README.md: nothing about slide $command"
    section=$(awk -v heading="## $command" '/^## / || FNR == 1 { on = $0 == heading } on' "$folder"/*.md)
    for option in $(options_of "$command"); do
      [ "$option" = --help ] || [[ ${section:-$(cat "$folder"/*.md)} =~ ${option}[^a-z-] ]] ||
        fault "$folder: nothing about $option of slide $command"
    done
  done
}

list_names
check_links
for page in "${pages[@]}"; do
  check_mentions "$page"
  run_blocks "$page"
done
for page in "${stops_pages[@]}"; do check_stops "$page"; done
check_explained engine/run/METRICS.md README.md "key" '"[a-z_0-9]+":' build/demo/run/metrics.jsonl
check_explained engine/run/README.md README.md "key" '"[a-z_0-9]+":' build/demo/run/environment.json
check_explained engine/serve/README.md engine/serve/README.md metric '^# TYPE [a-z_]+' build/demo/serve-metrics.txt
check_keys
check_commands
for page in "${pages[@]}"; do
  [ "$(wc -l < "$page")" -le "$([ "$page" = README.md ] && echo "$max_lines" || echo "$max_lines_of_pages")" ] ||
    fault "$page is too long: at most $max_lines lines of README.md, $max_lines_of_pages of any other page"
done
[ "$faults" -eq 0 ] || { echo "$faults faults in the pages" >&2; exit 1; }
echo "the pages hold: $(cat "${pages[@]}" | grep -c '^```bash') blocks of ${#pages[@]} pages run, all names found"
