#!/bin/sh
# Runs a command with the variable TESSERA_TMPFS: an empty file system in memory that only the command sees, and whose size it may
# change (mount -o remount,size=...). Where nothing may be mounted: exit code 77, which CTest reports as skipped.
#   with-tmpfs.sh COMMAND [ARGUMENT...]
if unshare --mount true 2>/dev/null; then
  as="--mount"
elif unshare --map-root-user --mount true 2>/dev/null; then
  as="--map-root-user --mount"
else
  echo "skipped: no file system may be mounted here (neither as root nor in a user namespace)"
  exit 77
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# shellcheck disable=SC2086
exec unshare $as sh -c '
  TESSERA_TMPFS=$(mktemp -d)
  export TESSERA_TMPFS
  if ! mount -t tmpfs -o size=1m tessera "$TESSERA_TMPFS"; then
    rmdir "$TESSERA_TMPFS"
    echo "skipped: no tmpfs may be mounted here"
    exit 77
  fi
  "$@"
  code=$?
  umount "$TESSERA_TMPFS"
  rmdir "$TESSERA_TMPFS"
  exit $code' sh "$@"
