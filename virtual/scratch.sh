# shellcheck shell=bash
# Sourced by debian.sh: a scratch folder that is gone when the script ends, however it ends. Not below the cache: the
# users of a namespace can't enter a private home. Hooks and their input are copied there for the same reason.
scratch=$(mktemp -d /var/tmp/storage-lab.XXXXXX)
chmod 755 "$scratch"
export TMPDIR=$scratch

clean_scratch() {
  # An interrupted mmdebstrap may leave the mounts of its system, and for a moment a compiler that still writes.
  for _ in 1 2 3 4 5; do
    awk -v below="$scratch/" 'index($2, below) == 1 { print $2 }' /proc/mounts | sort -r | xargs --no-run-if-empty umount --lazy
    rm -rf --one-file-system "$scratch" && return
    sleep 1
  done
}
trap clean_scratch EXIT
trap 'exit 130' INT TERM HUP
