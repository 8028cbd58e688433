# The archives of packages that this machine's apt uses. To be sourced.

own_release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")

# The archives of Debian or its kin that apt knows, as lines of sources.list.
apt_sources() {
  apt-get indextargets --format '$(ORIGIN)|deb $(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    sed -n 's/^\(Debian\|Ubuntu\)|//p' | sort -u
}

# The one of this machine's release; nothing where apt has no lists.
own_mirror() { apt_sources | awk -v release="$own_release" '$3 == release && !found++ { print $2 }'; }
