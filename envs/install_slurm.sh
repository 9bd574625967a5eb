#!/usr/bin/env bash
# Make sure that SLURM is there, for tests/slurm (`make test-slurm`): its controller, its node daemon, its
# commands and munge, as Debian and Ubuntu package them (14 MB).
# Exit status 0: it is there; 3: unavailable, because this system has no apt, or this user may not or
# cannot install with it (NO_SYSTEM_PACKAGES=1 says so too); 1: the installation failed.
set -u
packages=(slurm-wlm slurm-client munge)

present() {
  for command in slurmctld slurmd sbatch squeue scancel srun sinfo scontrol munged; do
    PATH="$PATH:/usr/sbin" command -v "$command" >/dev/null || return 1
  done
}
unavailable() {
  echo "slurm: unavailable: $*" >&2
  exit 3
}

present && exit 0
command -v apt-get >/dev/null || unavailable "no apt-get here; install SLURM and munge by hand"
[ "$(id -u)" -eq 0 ] || unavailable "only root may install ${packages[*]}"
[ -z "${NO_SYSTEM_PACKAGES:-}" ] || unavailable "NO_SYSTEM_PACKAGES is set"

log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >"$log" 2>&1
if ! apt-get install -qq --download-only --no-install-recommends "${packages[@]}" >>"$log" 2>&1; then
  tail -n 5 "$log" >&2
  unavailable "apt cannot fetch ${packages[*]}"
fi
echo "slurm: installing ${packages[*]} with apt (14 MB, once; NO_SYSTEM_PACKAGES=1 prevents it)"
if apt-get install -y -qq --no-install-recommends "${packages[@]}" >>"$log" 2>&1 && present; then
  rm -f "$log"
  exit 0
fi
tail -n 20 "$log" >&2
exit 1
