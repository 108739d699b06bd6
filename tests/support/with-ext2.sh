#!/bin/sh
# Runs a command with the variable TESSERA_EXT2: an empty ext2 file system of 4 MB, which cannot set space aside for a file. Where
# none may be mounted: exit code 77, which CTest reports as skipped.
#   with-ext2.sh COMMAND [ARGUMENT...]
PATH=$PATH:/usr/sbin:/sbin
export PATH
skip() {
  echo "skipped: $1"
  exit 77
}
command -v mkfs.ext2 >/dev/null || skip "there is no mkfs.ext2 here (package e2fsprogs)"
unshare --mount true 2>/dev/null || skip "no file system may be mounted here"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
exec unshare --mount sh -c '
  place=$(mktemp -d)
  truncate -s 4M "$place/image" && mkfs.ext2 -q -F -m 0 "$place/image" && mkdir "$place/disk"
  if ! mount -o loop "$place/image" "$place/disk" 2>/dev/null; then
    rm -r "$place"
    echo "skipped: no image may be mounted here"
    exit 77
  fi
  TESSERA_EXT2=$place/disk
  export TESSERA_EXT2
  "$@"
  code=$?
  umount "$place/disk"
  rm -r "$place"
  exit $code' sh "$@"
