# Is a function or a type defined in a C++ file? Exit status 0 if so, 1 if not. A call or a comment that names it is no
# definition; in a header a declaration of a function is enough.
# usage: awk -v name=NAME -f defines.awk FILE     NAME: function, Class::function or Type, namespaces before it or not

/^[ \t]*#/ { next }
{
  gsub(/\047(\\.|[^\047\\])\047/, "0")    # characters, then strings, which may hold what looks like a comment
  gsub(/"([^"\\]|\\.)*"/, "\"\"")
  sub(/\/\/.*/, "")
  text = text $0 " "
}

# The place behind the bracket that closes the one at place i.
function behind(s, i, left, right,   depth, c) {
  for (; i <= length(s); ++i) {
    c = substr(s, i, 1)
    if (c == left) ++depth
    if (c == right && --depth == 0) return i + 1
  }
  return i
}

# What stands before a function's name when it is declared: its type, not an operator or a keyword of expressions.
function typed(before) {
  return before ~ /[A-Za-z0-9_>&*] *$/ && before !~ /(^|[^A-Za-z0-9_])(return|throw|else|new|delete|case|goto) *$/
}

function has_function(s, function_name, constructs,   at, place, before, rest) {
  while ((at = index(substr(s, place + 1), function_name)) > 0) {
    place += at
    before = substr(s, 1, place - 1)
    rest = substr(s, place + length(function_name))
    if (before ~ /[A-Za-z0-9_~:.]$/ || rest !~ /^ *\(/) continue
    rest = substr(rest, behind(rest, 1, "(", ")"))
    if (!constructs && !typed(before)) continue
    if (constructs && rest ~ /^ *(noexcept *)?:[^:]/) return 1
    if (rest ~ /^ *((const|noexcept|override|final) *)*(->[^;{}]*)?\{/) return 1
    if (header && rest ~ /^ *((const|noexcept|override|final) *)*(= *[a-z0]+ *)?;/) return 1
  }
  return 0
}

# The body of a class, "" where the file holds none.
function body_of(s, class_name,   head) {
  if (!match(s, "(class|struct) +" class_name "( final)? *(:[^:;{][^;{]*)?\\{")) return ""
  head = RSTART + RLENGTH - 1
  return substr(s, head, behind(s, head, "{", "}") - head)
}

function has_type(s, type) {
  return s ~ ("(class|struct|union|enum|concept|using) +" type "( final)? *[<{:=]")
}

END {
  while (match(text, /\/\*/)) {
    stop = index(substr(text, RSTART + 2), "*/")
    text = substr(text, 1, RSTART - 1) " " (stop ? substr(text, RSTART + stop + 3) : "")
  }
  header = FILENAME ~ /\.h$/
  while (name ~ /^[a-z_0-9]+::/) sub(/^[a-z_0-9]+::/, "", name)  # namespaces
  count = split(name, part, "::")
  last = part[count]
  owner = count > 1 ? part[count - 1] : ""
  if (last ~ /^[A-Z]/ && last != owner) exit !has_type(text, last)
  if (owner == "") exit !has_function(text, last, 0)
  found = has_function(text, owner "::" last, last == owner) || has_function(body_of(text, owner), last, last == owner)
  exit !found
}
