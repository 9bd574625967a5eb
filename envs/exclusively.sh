#!/usr/bin/env bash
# Run a command as the only one of this checkout: envs/exclusively.sh COMMAND …
# The operating system drops the lock when its holder dies, so a lock directory of Snakemake that is
# still there belongs to a killed run and may be cleared.
set -euo pipefail
mkdir -p .snakemake
exec 9>>.snakemake/running.lock
if ! flock -n 9; then
  echo "another run is active in this folder: $(cat .snakemake/running.by 2>/dev/null || echo unknown); wait for it or stop it" >&2
  exit 1
fi
echo "process $$ on $(hostname)" >.snakemake/running.by
if [ -n "$(ls -A .snakemake/locks 2>/dev/null)" ]; then
  echo "clearing the lock of a run that was killed" >&2
  "$@" --unlock >/dev/null
fi
exec "$@"
