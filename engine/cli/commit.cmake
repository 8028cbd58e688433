# Writes FILE, which tells the commit of the tree SOURCES as kCommit: its short name, with + where files that git knows
# differ from it, or nothing where the tree is no checkout of its own. Only a change is written, so that a build
# compiles what includes it after a commit, and not otherwise.
# usage: cmake -DSOURCES=... -DFILE=... -P commit.cmake
function(ask_git result)
  execute_process(COMMAND git -C ${SOURCES} ${ARGN} OUTPUT_VARIABLE answer RESULT_VARIABLE code
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT code EQUAL 0)
    set(answer "")
  endif()
  set(${result} "${answer}" PARENT_SCOPE)
endfunction()

set(commit "")
ask_git(above rev-parse --show-prefix)  # within another project's checkout, the way to this tree
ask_git(name rev-parse --short=10 HEAD)
if(above STREQUAL "" AND NOT name STREQUAL "")
  set(commit ${name})
  ask_git(changes status --porcelain --untracked-files=no)
  if(NOT changes STREQUAL "")
    string(APPEND commit "+")
  endif()
endif()
set(text "// Written by engine/cli/commit.cmake.\n#pragma once\n
inline constexpr const char* kCommit = \"${commit}\";\n")
set(before "")
if(EXISTS ${FILE})
  file(READ ${FILE} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${FILE} "${text}")
endif()
