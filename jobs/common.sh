# Sourced by the batch scripts of this folder, after set -euo pipefail; script: the name for messages, root: the clone.
# Sets tessera (the program) and launch (how ranks are started), and works where the job was submitted.
#
# From the environment:
#   TESSERA_ROOT     the clone              (default: the folder of submission)
#   TESSERA          the program            (default: tessera on PATH, or build/bin/tessera of the clone)
#   TESSERA_MODULES  modules to load        (default: none), for example "gcc/12 openmpi/4.1 hdf5/1.12-parallel"
#   TESSERA_LAUNCH   how ranks are started  (default: srun --mpi=pmix); "mpirun" where Slurm has no PMIx

fail() { echo "$script: $*" >&2; exit 2; }

cd "$SLURM_SUBMIT_DIR"

if [ -n "${TESSERA_MODULES:-}" ]; then
  set +u   # profiles and modules read variables that may not be set
  type module >/dev/null 2>&1 || . /etc/profile
  type module >/dev/null 2>&1 || fail "TESSERA_MODULES is set, but this site has no module command"
  read -r -a modules <<<"$TESSERA_MODULES"
  module load "${modules[@]}"
  set -u
fi

tessera=${TESSERA:-$(command -v tessera || echo "$root/build/bin/tessera")}
[ -x "$tessera" ] || fail "no program at '$tessera'; build it (docs/cluster.md) or set TESSERA"
read -r -a launch <<<"${TESSERA_LAUNCH:-srun --mpi=pmix}"
