# Sourced by the other scripts: where things are, and how MPI is started on this machine.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=${TESSERA_JOBS:-$(nproc)}

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Open MPI refuses to run as root unless told twice; elsewhere these variables stay unset.
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# Ranks that wait must yield: with more ranks than cores a reduction takes milliseconds otherwise (docs/cluster.md). Unbound, so that
# two programs at a time do not share one core.
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none

# The python3 that has h5py, pandas and matplotlib; the first one on PATH may be another.
find_python() {
  local candidate
  for candidate in "${TESSERA_PYTHON:-}" python3 /usr/bin/python3; do
    if [ -n "$candidate" ] && "$candidate" -c 'import h5py, pandas, matplotlib' 2>/dev/null; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

install_dependencies() { # [--no-install]
  "$root/scripts/install-deps.sh" "$@"
}

# build PRESET TARGET...: configures once, then builds what changed.
build() {
  local preset=$1
  shift
  (cd "$root" && cmake --preset "$preset" >"$root/build-$preset.log" 2>&1) || { cat "$root/build-$preset.log"; fail "cmake --preset $preset failed"; }
  rm -f "$root/build-$preset.log"
  (cd "$root" && cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"})
}
