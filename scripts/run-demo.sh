#!/usr/bin/env bash
# Installs what is missing, builds, and simulates one training iteration of GPT-3 175B on 64 A100s.
# Leaves gpt3-175b.h5 and its pictures (gpt3-175b/*.png) in the current folder.
#   scripts/run-demo.sh [--no-install]      --no-install: on machines without sudo, only says what is missing
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
help_of "$@"
allow "--no-install" "$@"

say "Packages"
install_dependencies --no-tests "$@"

say "Build (build/)"
build release tessera

say "One training iteration of GPT-3 175B on 64 A100s, on 1 rank"
echo "One rank leaves out the micro-batches that repeat themselves, so it is faster here than several, which do not; the result is the same."
"$root/build/bin/tessera" run "$root/inputs/experiments/gpt3-175b.toml" -o gpt3-175b.h5 --force

say "Pictures"
if python=$(find_python); then
  PYTHONPATH=$root/analysis "$python" -m tessera_analysis plot gpt3-175b.h5 -o gpt3-175b
else
  echo "no python3 with h5py, pandas and matplotlib: no pictures (packages python3-h5py python3-pandas python3-matplotlib)"
fi

cat <<END

The result is gpt3-175b.h5: read it with h5py, MATLAB or HDFView (docs/results.md), or
  build/bin/tessera show gpt3-175b.h5
The same model measured on the real machine took 13.75 s (Korthikanti et al. 2022, Table 5); docs/validation/megatron.md has all eight rows.
END
