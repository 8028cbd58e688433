#!/usr/bin/env bash
# Tests what runs slide serve as a service: the unit of systemd and the image of a container.
# usage: tests/install/serve_test.sh unit|container BUILD_FOLDER WORK_FOLDER
#   unit       systemd-analyze finds no fault in it and little exposure; its command starts with the page's settings
#   container  built and run by podman, buildah with podman, or docker; where there is none that works, the steps of
#              the Containerfile in a bare system (bare_system.sh), with the program of this machine's build in place of
#              the first stage, which SLIDE_CONTAINER_BUILD=1 runs, too
# Exit status 77 where this machine lacks what that takes.
set -euo pipefail
kind=${1:?usage: serve_test.sh unit|container BUILD_FOLDER WORK_FOLDER}
build=$(realpath "${2:?}")
sources=$(realpath "$(dirname "$0")/../..")
mkdir -p "${3:?}"
work=$(realpath "$3")
room=$sources/engine/serve
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} OMP_WAIT_POLICY=passive
fail() { echo "serve_test.sh: $*" >&2; exit 1; }
skip() { echo "SKIPPED: $*"; exit 77; }
log=$work/$kind-serve.log
server=
stop_server() { [ -z "$server" ] || kill "$server" 2> "$work/$kind-kill.log" || true; }

# Waits until a file says that the server listens, as JSON. The file is new before the server starts: what an earlier one
# said in it must not count.
await_server() {  # file
  until grep -qs '"listening"' "$1"; do
    kill -0 "$server" 2> "$work/$kind-kill.log" || { cat "$1"; fail "the server does not start"; }
    sleep 0.05
  done
}

# A registry of two models.
make_registry() {  # folder
  local data=$work/$kind-data
  rm -rf "$data" "$1"
  "$build/slide" generate --samples 300 --features 120 --labels 60 --out "$data" > "$log"
  for seed in 1 2; do
    "$build/slide" train "$data/train.txt" --epochs 1 --seed $seed --out "$data/run$seed" --quiet > "$log"
    "$build/slide" models add "$1" "$data/run$seed" > "$log"
  done
}

# --- The unit

# With the built program as the one that systemd would find, and settings of the test's own.
test_unit() {
  local unit=$work/slide-serve.service command
  [ -n "$(command -v systemd-analyze)" ] || skip "there is no systemd-analyze (package systemd)"
  make_registry "$work/unit-models"
  printf 'model = "%s"\nport = 0\n' "$work/unit-models" > "$work/serve.toml"
  sed -e "s|^ExecStart=slide |ExecStart=$build/slide |" -e "s|/etc/slide/serve.toml|$work/serve.toml|" \
    -e '/^Documentation=/d' "$room/slide-serve.service" > "$unit"
  systemd-analyze verify "$unit" > "$log" 2>&1 || { cat "$log"; fail "systemd-analyze finds a fault in the unit"; }
  if grep -q "slide-serve" "$log"; then cat "$log"; fail "systemd-analyze warns of the unit"; fi
  if systemd-analyze --help | grep -e --offline > "$log"; then
    systemd-analyze security --offline=true --threshold=20 "$unit" > "$log" 2>&1 ||
      { grep -F '✗' "$log"; tail -n 1 "$log"; fail "the unit leaves the service more than it needs"; }
    tail -n 1 "$log"
  else
    echo "This systemd-analyze cannot judge the exposure of a unit that is not loaded"
  fi
  command=$(sed -n 's/^ExecStart=//p' "$unit")
  : > "$work/unit-told"
  $command > "$work/unit-told" 2> "$log" & server=$!
  trap stop_server EXIT
  await_server "$work/unit-told"
  "$build/slide" models use "$work/unit-models" run2 > "$log.use"
  kill -HUP $server  # as ExecReload
  until grep -q 'reloaded .*run2.slide' "$log"; do sleep 0.05; done
  kill $server
  wait $server || fail "a stopped server is a failure"
  server=
}

# --- The container

# Prints the instructions of the Containerfile, a line each; comments are left out.
instructions() {
  sed '/^[ \t]*#/d' "$room/Containerfile" | sed -e ':a' -e '/\\$/{N;s/\\\n//;ba' -e '}' | grep -v '^ *$'
}
first_stage() { instructions | awk '/^FROM / { ++stage } stage == 1'; }
last_stage() { instructions | awk '/^FROM / { text = "" } { text = text $0 "\n" } END { printf "%s", text }'; }
values_of() { last_stage | sed -n "s/^$1 //p"; }  # instruction

# The words of an instruction in its JSON form, behind its options, each ended by a zero byte.
words_of() {  # instruction
  values_of "$1" | python3 -c '
import json, sys
text = sys.stdin.read()
sys.stdout.write("".join(word + "\0" for word in json.loads(text[text.index("["):])))'
}

image_tool() {
  local tool
  for tool in podman docker; do
    if [ -n "$(command -v $tool)" ] && $tool info > "$log" 2>&1; then echo $tool; return; fi
  done
}

# Every path that a stage copies out of the sources is there, and every user, port and variable is what is documented.
check_containerfile() {
  local words word
  first_stage | grep -q '^FROM .*debian:[a-z]*-slim AS build$' || fail "the first stage is not from Debian slim"
  last_stage | grep -q '^FROM .*debian:[a-z]*-slim$' || fail "the image is not from Debian slim"
  while read -ra words; do
    for word in "${words[@]:1:${#words[@]}-2}"; do
      [ -e "$sources/$word" ] || fail "COPY $word: the sources have no such file"
    done
  done < <(first_stage | grep '^COPY ')
  for word in "$sources"/*/; do
    word=$(basename "$word")
    [[ $word == build || $word == run ]] || first_stage | grep "^COPY $word " > "$log" || fail "the first stage does not copy $word"
  done
  [ "$(values_of USER)" -gt 0 ] || fail "the image names no user by a number other than that of root"
}

# By podman or docker: the image, and a container of it.
test_image() {  # tool
  local container status
  "$1" build -t slide-serve-test -f "$room/Containerfile" "$sources" > "$work/image.log" 2>&1 ||
    { tail -n 40 "$work/image.log"; fail "$1 builds no image"; }
  container=$("$1" run -d --rm --read-only --cap-drop=ALL --security-opt=no-new-privileges \
    -v "$work/container-models:/models:ro" slide-serve-test)
  until "$1" logs "$container" 2>&1 | grep '"listening"' > "$log"; do sleep 0.2; done
  mapfile -d '' -t status < <(words_of HEALTHCHECK)
  "$1" exec "$container" "${status[@]}" || fail "the container is not healthy"
  "$1" stop "$container" > "$log"
  "$1" rmi slide-serve-test > "$log"
}

# Runs a command in $root as the user of the image, with its variables.
as_user() {
  inside "$root" env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${variables[@]}" \
    setpriv --reuid "$(values_of USER)" --regid "$(values_of USER)" --clear-groups --no-new-privs "$@"
}

build_first_stage() {
  local words
  mkdir -p "$root/src"
  while read -ra words; do
    (cd "$sources" && cp -r "${words[@]:1:${#words[@]}-2}" "$root/src/${words[-1]%/*}/")
  done < <(first_stage | grep '^COPY ')
  first_stage | sed -n 's/^RUN //p' > "$work/first-stage.sh"
  inside "$root" bash -euc "cd /src; $(cat "$work/first-stage.sh")" > "$work/first-stage.log" 2>&1 ||
    { tail -n 40 "$work/first-stage.log"; fail "the first stage fails"; }
}

# What the first stage makes, of this machine's build.
package_program() {
  "$sources/scripts/package.sh" tar "$root/packages" "$build" > "$work/container-package.log" 2>&1 ||
    { tail -n 40 "$work/container-package.log"; fail "the package cannot be made"; }
  tar -C "$root/packages" --strip-components=1 -xzf "$root"/packages/slide-*-linux.tar.gz
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

test_steps() {
  local step words entry health shell
  . "$sources/tests/install/bare_system.sh"
  trap 'stop_server; remove_systems' EXIT
  bare_root
  if [ "${SLIDE_CONTAINER_BUILD:-0}" = 1 ]; then build_first_stage; else package_program; fi
  while read -r step words; do
    case $step in
      RUN) inside "$root" sh -euc "$words" ;;
      COPY)
        [[ $words =~ ^--from=build\ ([^ ]+)\ ([^ ]+)$ ]] || fail "COPY $words: not from the first stage"
        install -D "$root${BASH_REMATCH[1]}" "$root${BASH_REMATCH[2]}" ;;
    esac
  done < <(last_stage)
  cp -r "$work/container-models/." "$root$(values_of VOLUME)/"
  read -ra variables <<< "$(values_of ENV) SLIDE_PORT=$(free_port)"
  mapfile -d '' -t entry < <(words_of ENTRYPOINT)
  mapfile -d '' -t health < <(words_of HEALTHCHECK)
  if as_user "${health[@]}" 2> "$log"; then fail "a container without a server is healthy"; fi
  : > "$work/container-told"
  as_user "${entry[@]}" > "$work/container-told" 2> "$log" & shell=$!
  server=$shell
  await_server "$work/container-told"
  server=$(pgrep -P $shell)
  as_user "${health[@]}" || fail "the container is not healthy"
  if as_user touch "$(values_of VOLUME)/new" 2> "$work/container-touch"; then fail "the user of the image can write the models"; fi
  [ "$(stat -c %U "/proc/$server")" != root ] || fail "the server runs as root"
  kill "$server"
  wait $shell || fail "a stopped server is a failure"
  server=
}

test_container() {
  local tool
  check_containerfile
  make_registry "$work/container-models"
  chmod -R a+rX "$work/container-models"
  tool=$(image_tool)
  if [ -n "$tool" ]; then
    test_image "$tool"
    echo "built and run by $tool"
  else
    test_steps
    echo "no podman or docker works here: the steps of the Containerfile ran in a bare system"
  fi
}

"test_$kind"
