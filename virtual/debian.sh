# shellcheck shell=bash
# Sourced by the recipes of this folder: the Debian release that the lab is made of, and how to bootstrap it.
set -euo pipefail
export LC_ALL=C
# Where a normal user's PATH lacks them: mke2fs, depmod.
export PATH=$PATH:/usr/sbin:/sbin

# Another release's kernel and ZFS in the guests: for tests of older versions.
suite=${STORAGE_LAB_DEBIAN_SUITE:-trixie}
components=main,contrib

# The mirror that this machine is configured with, if it is a Debian machine; it serves every release.
# Elsewhere nothing is printed, and mmdebstrap takes its own default. The operator's word goes first.
debian_mirror() {
  if [ -n "${STORAGE_LAB_DEBIAN_MIRROR:-}" ]; then
    echo "$STORAGE_LAB_DEBIAN_MIRROR"
    return
  fi
  apt-get indextargets --format '$(ORIGIN) $(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk '$1 == "Debian" && $2 !~ /-/ && $3 == "main" { print $4; exit }'
}

# bootstrap OPTIONS… TARGET: mmdebstrap of our suite; as root in a plain chroot, else in a user namespace.
bootstrap() {
  local mode=unshare mirror
  if [ "$(id -u)" = 0 ]; then mode=root; fi
  mirror=$(debian_mirror)
  local target=${*: -1}
  set -- "${@:1:$#-1}"
  mmdebstrap --mode="$mode" --components="$components" \
    --aptopt='Apt::Install-Recommends "false"' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/info/*' \
    "$@" "$suite" "$target" ${mirror:+"$mirror"}
}

# $scratch, a folder that is gone when the script ends; not a part of the recipe.
. "$(dirname "${BASH_SOURCE[0]}")/scratch.sh"
