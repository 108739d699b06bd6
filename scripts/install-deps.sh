#!/usr/bin/env bash
# Installs the packages that Tessera needs and that are not there yet; docs/dependencies.md says what each is for.
#   scripts/install-deps.sh [--no-install] [--no-tests] [--extra PACKAGE...]
#     --no-install    installs nothing: says what is missing, and fails when something required is, unless a site's
#                     modules (LOADEDMODULES) or CMAKE_PREFIX_PATH may have it
#     --no-tests      leaves out what only tests need
#     --extra         also these packages, as required as the others
set -euo pipefail

case " $* " in
  *" --help "* | *" -h "*)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

required=(g++ cmake ninja-build openmpi-bin libopenmpi-dev libhdf5-openmpi-dev zlib1g-dev libboost-serialization-dev
  libtomlplusplus-dev libcli11-dev libfmt-dev nlohmann-json3-dev librandom123-dev libmetis-dev libmuparser-dev libeigen3-dev)
# For figures, graphs from ONNX files and faster builds; the program builds and runs without them.
optional=(libonnx-dev libprotobuf-dev python3-h5py python3-pandas python3-matplotlib ccache)
tests=(catch2 hdf5-tools clang-format slurm-wlm slurm-client munge)

install=yes
while [ $# -gt 0 ]; do
  case "$1" in
    --no-install) install=no ;;
    --no-tests) tests=() ;;
    --extra)
      shift
      required+=("$@")
      break
      ;;
    *)
      echo "error: unknown option '$1'; allowed: --no-install, --no-tests, --extra PACKAGE..., --help" >&2
      exit 2
      ;;
  esac
  shift
done

# Prints those of its arguments that are not installed.
missing_of() {
  local installed package
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p' || true)
  for package in "$@"; do
    grep -qxF -- "$package" <<<"$installed" || echo "$package"
  done
}

# What a site must load where packages have other names. Says nothing about versions that CMake checks itself.
without_packages() {
  echo "This is not a Debian system: nothing is installed here. Load or install, by your site's names:"
  echo "  C++20 compiler (g++ 12), CMake 3.22, Ninja, MPI 3.1 or later, HDF5 built with that MPI, zlib, Boost.Serialization,"
  echo "  toml++, CLI11, fmt 9, nlohmann-json, Random123, METIS, muParser, Eigen; for tests Catch2 2 and h5diff; for figures"
  echo "  python3 with h5py, pandas and matplotlib. docs/cluster.md shows it with environment modules."
  local tool absent=()
  for tool in c++ cmake ninja mpicc; do
    command -v "$tool" >/dev/null || absent+=("$tool")
  done
  if [ ${#absent[@]} -gt 0 ]; then
    echo "Not on PATH: ${absent[*]}" >&2
    exit 1
  fi
  echo "Compiler, CMake, Ninja and MPI are on PATH; CMake will look for the libraries."
}

# Runs its arguments as root, by sudo where needed.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "error: installing needs root or sudo; ask for these packages, or use --no-install: ${missing[*]}" >&2
    exit 1
  fi
}

optional+=("${tests[@]}")

if ! command -v dpkg-query >/dev/null; then
  without_packages
  exit 0
fi

mapfile -t missing_required < <(missing_of "${required[@]}")
mapfile -t missing_optional < <(missing_of "${optional[@]}")
missing=("${missing_required[@]}" "${missing_optional[@]}")

if [ ${#missing[@]} -eq 0 ]; then
  echo "All $((${#required[@]} + ${#optional[@]})) packages are installed."
elif [ $install = no ]; then
  [ ${#missing_optional[@]} -eq 0 ] || echo "Missing, for tests, figures and faster builds only: ${missing_optional[*]}"
  if [ ${#missing_required[@]} -gt 0 ]; then
    echo "Missing: ${missing_required[*]}" >&2
    if [ -z "${LOADEDMODULES:-}${CMAKE_PREFIX_PATH:-}" ]; then
      echo "Have them installed, or load the same from your site's modules (docs/cluster.md)." >&2
      exit 1
    fi
    echo "Modules or CMAKE_PREFIX_PATH are set: CMake will look for them there."
  fi
else
  echo "Installing ${#missing[@]} missing packages: ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
  echo "Installed."
fi
