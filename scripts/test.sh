#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test.
#   scripts/test.sh [--no-install] [--sanitize] [--mpich]
#     --sanitize    the unit tests with AddressSanitizer and UndefinedBehaviorSanitizer, first and then no more
#     --mpich       first also the MPI tests with MPICH, where its packages are there
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
help_of "$@"
allow "--no-install --sanitize --mpich" "$@"

install=() sanitize=no mpich=no
for option in "$@"; do
  case "$option" in
    --no-install) install=(--no-install) ;;
    --sanitize) sanitize=yes ;;
    --mpich) mpich=yes ;;
  esac
done

say "Packages"
install_dependencies "${install[@]}"

say "Format (.clang-format)"
"$root/scripts/format.sh" --check

if [ $sanitize = yes ]; then
  say "Unit tests with AddressSanitizer and UndefinedBehaviorSanitizer (build-sanitize/)"
  build sanitize unit_tests
  (cd "$root/build-sanitize" && ctest --no-tests=error --output-on-failure -j "$jobs" -L unit)
fi

say "Build (build/)"
if [ $sanitize = yes ]; then build release -DTESSERA_UNIT_TESTS=OFF; else build release -DTESSERA_UNIT_TESTS=ON; fi

if [ $mpich = yes ]; then
  say "MPI tests with MPICH (build-mpich/)"
  "$root/scripts/test-mpich.sh" "${install[@]}"
fi

say "Tests"
cd "$root/build" && ctest --no-tests=error --output-on-failure -j "$jobs"
