#!/usr/bin/env bash
# Formats every C++ file of the repository.
#   scripts/format.sh [--check]      --check: only says which files differ, and fails when one does
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
help_of "$@"
allow "--check" "$@"

cd "$root"
formatter=$(command -v clang-format-14 || command -v clang-format) || fail "clang-format is missing (package clang-format)"
mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp' | while read -r file; do [ -f "$file" ] && echo "$file"; done)
if [ "${1:-}" = --check ]; then
  "$formatter" --dry-run --Werror "${files[@]}" || fail "run scripts/format.sh"
  echo "${#files[@]} files are formatted"
else
  "$formatter" -i "${files[@]}"
fi
