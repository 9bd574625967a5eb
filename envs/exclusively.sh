#!/usr/bin/env bash
# Run a command as the only one of this checkout, whoever runs it on whatever machine:
# envs/exclusively.sh COMMAND …
# The lock ends with the command, however it ends (scripts/machine/locks.py), so a lock directory of
# Snakemake that is still there belongs to a killed run and may be cleared.
set -euo pipefail
if [ "${1:-}" != --locked ]; then
  package=$(cd "$(dirname "$0")/.." && pwd)
  python=$(dirname "$1")/python
  [ -x "$python" ] || python=python3
  exec env PYTHONPATH="$package${PYTHONPATH:+:$PYTHONPATH}" "$python" -m scripts.machine.locks \
    --purpose "$*" .snakemake/running.lock -- "$0" --locked "$@"
fi
shift
if [ -n "$(ls -A .snakemake/locks 2>/dev/null)" ]; then
  echo "clearing the lock of a run that was killed" >&2
  "$@" --unlock >/dev/null
fi
# Snakemake need not take the lock itself (scripts/workflow/checkout.py).
TOKENS_AND_TIME_EXCLUSIVE=1 exec "$@"
