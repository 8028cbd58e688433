#!/usr/bin/env bash
# Words that engine/GLOSSARY.md replaced stay out of identifiers, comments, help, messages, configurations and pages. Old
# spellings that are still read may stand: `neighbours.companions`, `companions =`, and lines that end in the comment
# "old name".
# Not searched: CHANGELOG.md and the last column of GLOSSARY.md.
# Prints FILE:LINE for each and exits with 1.
# usage: tests/structure/words_test.sh [ROOT]
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"

mapfile -t files < <(find . -type f \( -path './engine/*' -o -path './lsh/*' -o -path './datasets/*' -o -path './configs/*' \
  -o -path './scripts/*' -o -path './tests/*' -o -path './.github/*' -o -path ./README.md -o -path ./CMakeLists.txt \) \
  \( -name '*.h' -o -name '*.cpp' -o -name '*.cmake' -o -name '*.in' -o -name CMakeLists.txt -o -name '*.py' -o -name '*.sh' \
  -o -name '*.md' -o -name '*.toml' -o -name '*.html' -o -name '*.js' -o -name '*.css' -o -name '*.awk' \) \
  ! -name CHANGELOG.md ! -path ./tests/structure/words_test.sh ! -path ./tests/structure/words_fail_test.sh \
  ! -path '*/regressions/*' ! -path '*/__pycache__/*' | sed 's|^\./||' | sort)
[ "${#files[@]}" -ge 100 ] || { echo "words_test.sh: no files found" >&2; exit 1; }

tell_words() {  # file...
  awk '
    # Matched against a line in lower case, a blank before and behind it, CamelCase in its words. What a phrase lacks may
    # stand at the start of the next line.
    BEGIN {
      count = split("likeness|likest|companion|stranger|whoever|anybody", plain, "|")
      for (i = 1; i <= count; ++i) names[plain[i]] = plain[i]
      names["[^a-z]alike[^a-z]"] = "alike"
      names["[^a-z]lenders?[^a-z]"] = "lender"
      names["[^a-z]near[ _-]?miss(es)?[^a-z]"] = "near miss"
      names["[^a-z]ask(s|ed|ing)?( it| them)? for ahead[^a-z]"] = "asked for ahead"
      names["[^a-z]without a word[^a-z]"] = "without a word"
      names["[^a-z]as ever[^a-z]"] = "as ever"
      names["[^a-z]wide[ _-]?path"] = "wide path"
      names["[^a-z](go|goes|going|gone|went)[ _]on[ _]from[^a-z]"] = "goes on from"
      # Of the time until an answer: "as soon as" and "free soon" may stand.
      names[", soon[:;.,]"] = "soon"
      names["[^a-z](tell|come|answer|predict)(s|ed)? soon[^a-z]"] = "soon"
    }
    function in_words(line) {
      while (match(line, /[a-z0-9][A-Z]/)) line = substr(line, 1, RSTART) " " substr(line, RSTART + 1)
      return tolower(line)
    }
    function bare(line) {  # without what marks a comment, an item of a list or a string
      sub(/^[ \t]*(\/\/+|#+|\*|-|"|>)?[ \t]*/, "", line)
      return line
    }
    function unended(line) {
      sub(/[ \t"\\]*$/, "", line)
      return line
    }
    function without_allowed(line) {
      if (line ~ /(\/\/|#).*old name[ \t]*$/) return ""
      gsub(/neighbours\.companions|companions *=/, "", line)
      if (FILENAME ~ /(^|\/)GLOSSARY\.md$/ && line ~ /^\|/) { sub(/[ \t]*\|[ \t]*$/, "", line); sub(/\|[^|]*$/, "", line) }
      return line
    }
    function tell(name) { print file ":" number ": " name ": " held; ++faults }
    function check(next_line,   own, text, pattern) {
      if (held ~ /(^|[^A-Za-z0-9_])k(Most|Least)([^a-z]|$)/) tell("kMost, kLeast")
      own = " " in_words(unended(held)) " "
      text = own substr(in_words(next_line), 1, 40) " "
      for (pattern in names) {
        if (match(text, pattern) && RSTART < length(own)) tell(names[pattern])
      }
    }
    FNR == 1 { if (NR > 1) check(""); held = "" }
    { line = without_allowed($0)
      if (FNR > 1) check(bare(line))
      held = line; file = FILENAME; number = FNR }
    END { check(""); exit faults > 0 }' "$@"
}

tell_words "${files[@]}" >&2 ||
  { echo "engine/GLOSSARY.md has the words that stand for these" >&2; exit 1; }
echo "${#files[@]} files hold none of the words that engine/GLOSSARY.md replaced"
