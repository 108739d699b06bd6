# Sourced by the other scripts: where things are, and how MPI is started on this machine.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=${TESSERA_JOBS:-$(nproc)}

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# help_of ARGUMENT...: with --help or -h among the arguments the script's own first comment is all that it says.
help_of() {
  local argument
  for argument in "$@"; do
    case "$argument" in
      --help | -h)
        sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    esac
  done
}

# allow OPTIONS ARGUMENT...: refuses what is none of the options (one text, separated by spaces).
allow() {
  local options=$1 argument
  shift
  for argument in "$@"; do
    [[ " $options " == *" $argument "* ]] || fail "unknown option '$argument'; allowed: $options, --help"
  done
}

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

# build PRESET [-DNAME=VALUE] TARGET...: configures once, then builds what changed.
build() {
  local preset=$1 option=()
  shift
  if [[ ${1:-} == -D* ]]; then
    option=("$1")
    shift
  fi
  (cd "$root" && cmake --preset "$preset" "${option[@]}" >"$root/build-$preset.log" 2>&1) || { cat "$root/build-$preset.log"; fail "cmake --preset $preset failed"; }
  rm -f "$root/build-$preset.log"
  (cd "$root" && cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"})
}
