#!/usr/bin/env bash
# Stop the cluster that start_cluster.sh started in FOLDER, its jobs first: tests/slurm/stop_cluster.sh FOLDER
# Only processes whose numbers the cluster wrote into FOLDER are ended. The folder with its logs stays.
set -uo pipefail
folder=$(cd "${1:?usage: $0 FOLDER}" && pwd)
export SLURM_CONF="$folder/slurm.conf"

# The daemon of this name, by the number that it wrote; it removes the file when it ends.
pid() { cat "$folder/$1.pid" 2>/dev/null; }
alive() { [ -n "$(pid "$1")" ] && kill -0 "$(pid "$1")" 2>/dev/null; }

if alive slurmctld; then
  scancel --user "$(id -un)" 2>/dev/null
  for _ in $(seq 20); do
    [ -z "$(squeue --noheader 2>/dev/null)" ] && break
    sleep 1
  done
fi
for daemon in slurmd slurmctld munged; do
  alive "$daemon" || continue
  kill "$(pid "$daemon")" 2>/dev/null
  for _ in $(seq 20); do
    alive "$daemon" || break
    sleep 0.5
  done
  alive "$daemon" && kill -KILL "$(pid "$daemon")" 2>/dev/null
  rm -f "$folder/$daemon.pid"
done
exit 0
