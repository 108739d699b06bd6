#!/usr/bin/env bash
# Reproduces published tables: builds, simulates, compares, and rewrites the tables of docs/validation/STUDY.md with what it found.
#   scripts/reproduce.sh [SEED] [STUDY [PART]]      SEED: 1 unless given; STUDY: one of scripts/studies/*.py, all when none is named;
#                                                   PART: one of its parts (scripts/studies/_STUDY), all when none is named
# Each study ends with one line "summary: study=NAME mean_abs_deviation_pct=... key=value ...".
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
help_of "$@"

[[ ${1:-} != -* ]] || fail "unknown option '$1'; allowed: --help, or [SEED] [STUDY [PART]]"

seed=1
if [[ ${1:-} =~ ^[0-9]+$ ]]; then
  seed=$1
  shift
fi
studies=()
for file in "$root"/scripts/studies/*.py; do
  name=$(basename "$file" .py)
  [[ $name == _* ]] || studies+=("$name")
done
if [ $# -gt 2 ]; then fail "usage: scripts/reproduce.sh [SEED] [STUDY [PART]]"; fi
if [ $# -ge 1 ]; then
  [[ " ${studies[*]} " == *" $1 "* ]] || fail "no study '$1'; allowed: ${studies[*]}"
  studies=("$1")
fi
python=$(find_python) || fail "no python3 with h5py, pandas and matplotlib (packages python3-h5py python3-pandas python3-matplotlib)"
export PYTHONPATH=$root/analysis
if [ $# = 2 ]; then
  parts=$("$python" "$root/scripts/studies/$1.py" --parts)
  [[ " $parts " == *" $2 "* ]] || fail "study '$1' has no part '$2'; allowed: $parts"
fi

build release tessera >&2
for study in "${studies[@]}"; do
  say "Study $study, seed $seed" >&2
  "$python" "$root/scripts/studies/$study.py" --tessera "$root/build/bin/tessera" --seed "$seed" "${@:2}"
done
