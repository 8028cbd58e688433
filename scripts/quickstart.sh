#!/usr/bin/env bash
# From a fresh machine to a trained model: installs what is missing, builds, makes a real data set out of the machine's
# own package index (predict a package's dependencies from its description), trains, and shows what was learnt.
# Where there is no apt the data are generated. Everything is written below build/; a second run reuses what is there.
# usage: scripts/quickstart.sh
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh
. scripts/data.sh

home=build/quickstart
data=$home/data
run=$home/run
slide=build/release/slide
say() { printf '\n--- %s\n' "$*"; }

# Of each step that ninja prints: how much is done, and which room was compiled or what was linked.
show_steps() {
  sed -unE -e 's|^(\[ *[0-9]+%\]) Building .* object (.*)/CMakeFiles/.*|\1 \2|p' \
    -e 's|^(\[ *[0-9]+%\]) Linking CXX .*[ /]([^ /]+)$|\1 \2|p'
}

build() {
  install_packages "${build_packages[@]}" python3
  if cmake --preset release > "$home/build.log" 2>&1 &&
    NINJA_STATUS='[%p] ' cmake --build --preset release -j "$(jobs_at_once)" --target slide 2>&1 |
      tee -a "$home/build.log" | show_steps; then return; fi
  tail -n 40 "$home/build.log"
  echo "The build failed; all of it is in $home/build.log" >&2
  return 1
}

# Prints the folder with apt's lists: the system's where it holds long descriptions, else a private copy, to which
# they are added without touching the system (and without administrator's rights). Without a network: as it is.
apt_lists() {
  local lists=$PWD/$home/apt-lists
  if compgen -G '/var/lib/apt/lists/*Translation-en*' > /dev/null; then echo /var/lib/apt/lists; return; fi
  mkdir -p "$lists/partial"
  if ! compgen -G "$lists/*Translation-en*" > /dev/null; then
    cp -n /var/lib/apt/lists/*_* "$lists/" 2>/dev/null || true
    chmod 755 "$home" "$lists" && { [ "$(id -u)" -ne 0 ] || chown -R _apt "$lists/partial" 2>/dev/null || true; }
    timeout 120 apt-get -qq -o Acquire::Languages=en -o Dir::State::lists="$lists" update > "$home/apt.log" 2>&1 ||
      echo "Long descriptions could not be fetched ($home/apt.log); going on without." >&2
  fi
  echo "$lists"
}

make_data() {
  if [ -s "$data/train.txt" ] && [ -s "$data/test.txt" ]; then echo "Already in $data"; return; fi
  mkdir -p "$data"
  if command -v apt-get >/dev/null && command -v python3 >/dev/null; then
    python3 scripts/debian_depends.py "$data" --lists "$(apt_lists)" && return
    echo "The package index could not be used." >&2
  fi
  echo "Generating data instead."
  rm -f "$data"/*.txt
  "$slide" generate --samples 40000 --features 20000 --labels 20000 --seed 1 --out "$data"
}

mkdir -p "$home"
say "Building (log in $home/build.log)"
build
say "Data: a package's dependencies from the words of its description"
make_data
say "Training"
"$slide" train "$data/train.txt" --test "$data/test.txt" --out "$run" --force
say "On the whole test file"
"$slide" test "$run" "$data/test.txt"
if [ -s "$data/labels.txt" ] && command -v python3 >/dev/null; then
  say "Some packages of the test file and the dependencies predicted for them (* = right)"
  python3 scripts/show_predictions.py "$slide" "$run" "$data"
fi
say "An epoch of a smaller network: by hash tables alone (SLIDE), and with all outputs computed (dense)"
for kind in sampled dense; do
  "$slide" train configs/slide.toml --set data.train="$data/train.txt" --set layer.-1.kind=$kind \
    --set train.epochs=1 --out "$home/$kind" --force | grep '^epoch' | sed "s/^epoch/$kind: epoch/"
done
say "Model, metrics and the resolved config are in $run"
