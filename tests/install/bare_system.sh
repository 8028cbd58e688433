# A bare system of its own, the distribution's smallest, made once in $work by debootstrap from the mirror that this
# machine's apt uses; each test unpacks it as $root. It is of this machine's release, or of SLIDE_RELEASE (trixie). To be
# sourced with $work, a folder, $kind, the name of the test, and skip(), which is called where this is not root, or there
# is no debootstrap or no mirror. What mounts runs in a mount namespace, which ends with it: no mount is left, however it
# ends.

[ "$(id -u)" = 0 ] || skip "only root can make and enter another system"
unshare -m true 2> "$work/$kind.log" || skip "there are no mount namespaces here"

# Runs a command in the system below a folder, with /proc and /dev of its own; nothing of the environment comes along.
inside() {  # folder, command...
  unshare -m --propagation private -- bash -euc '
    root=$1; shift
    mount -t proc proc "$root/proc"
    mount -t tmpfs -o mode=755 tmpfs "$root/dev"
    for node in null:3 zero:5 random:8 urandom:9; do mknod -m 666 "$root/dev/${node%:*}" c 1 "${node#*:}"; done
    ln -s /proc/self/fd "$root/dev/fd"
    exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      OMP_NUM_THREADS=1 chroot "$root" "$@"' inside "$@" < /dev/null
}

# --- The bare system

. "$(dirname "${BASH_SOURCE[0]}")/apt_sources.sh"

release=${SLIDE_RELEASE:-$own_release}
bare=$work/bare-$release.tar

make_bare() {
  local mirror
  mirror=$(own_mirror)
  [ -n "$mirror" ] || skip "apt names no mirror of $own_release; apt-get update brings its lists"
  unshare -m --propagation private debootstrap --variant=minbase "$release" "$root" "$mirror" \
    > "$work/debootstrap.log" 2>&1 ||
    { tail -n 5 "$work/debootstrap.log"; skip "debootstrap made no system of $release"; }
  [ "$release" != "$own_release" ] || apt_sources > "$root/etc/apt/sources.list"
  apt-config dump | grep -E '^Acquire::(Check|http|https|Languages)' > "$root/etc/apt/apt.conf.d/99test" || true
  echo force-unsafe-io > "$root/etc/dpkg/dpkg.cfg.d/99test"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  inside "$root" apt-get -qq update > "$work/update.log" 2>&1 ||
    { cat "$work/update.log"; skip "apt reaches no mirror"; }
  tar -C "$root" -cf "$bare.part" .
  mv "$bare.part" "$bare"
}

# The bare system as $root.
bare_root() {
  [ -n "$(command -v debootstrap)" ] || skip "there is no debootstrap (package debootstrap)"
  [ -n "$(command -v apt-get)" ] || skip "there is no apt"
  (
    flock 9
    [ -e "$bare" ] || make_bare
  ) 9> "$work/bare.lock"
  [ -d "$root" ] || unpack_bare
}

unpack_bare() {
  mkdir -p "$root"
  tar -C "$root" -xpf "$bare" --numeric-owner
}

apt_in_root() { inside "$root" apt-get -qq -y install "$@" > "$work/$kind-apt.log" 2>&1; }

# Systems of thousands of small files, each used once, are in memory where there is room.
systems=$work
free=$(df --output=avail -B 1000000 /dev/shm 2> /dev/null | tail -n 1 || true)
memory=$(awk '/^MemAvailable/ {print int($2 / 1000)}' /proc/meminfo 2> /dev/null || echo 0)
if [ "${free:-0}" -gt 4000 ] && [ "$memory" -gt 8000 ]; then
  systems=$(mktemp -d /dev/shm/slide-packages-XXXXXX)
fi
root=$systems/root-$kind
remove_systems() {
  rm -rf --one-file-system "$root"
  [ "$systems" = "$work" ] || rm -rf --one-file-system "$systems"
}
