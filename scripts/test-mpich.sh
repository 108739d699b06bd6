#!/usr/bin/env bash
# Builds with MPICH instead of Open MPI and runs the MPI tests (build-mpich/). Skipped, with a word, where the packages are not there.
#   scripts/test-mpich.sh [--no-install]
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
help_of "$@"
allow "--no-install" "$@"

packages=(mpich libmpich-dev libhdf5-mpich-dev)
if ! command -v mpicc.mpich >/dev/null || ! command -v h5pcc.mpich >/dev/null; then
  if [ "${1:-}" = --no-install ] || ! install_dependencies --extra "${packages[@]}"; then
    echo "MPICH is not here (packages ${packages[*]}): its tests are left out"
    exit 0
  fi
fi

cd "$root"
# The release preset, so that what does not see MPI is compiled once for both (ccache).
cmake --preset release -B build-mpich -DTESSERA_BENCH=OFF \
  -DMPI_C_COMPILER="$(command -v mpicc.mpich)" -DMPIEXEC_EXECUTABLE="$(command -v mpiexec.mpich)" \
  -DHDF5_C_COMPILER_EXECUTABLE="$(command -v h5pcc.mpich)" >build-mpich.log 2>&1 || { cat build-mpich.log; fail "cmake failed"; }
rm -f build-mpich.log
cmake --build build-mpich -j "$jobs" --target mpi_tests
# What does not depend on the MPI has been tested with the other one.
cd build-mpich && TESSERA_FEW_CASES=1 ctest --output-on-failure -L mpi
