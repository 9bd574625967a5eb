#!/usr/bin/env bash
# Start a SLURM cluster of one node in FOLDER, for tests: tests/slurm/start_cluster.sh FOLDER
#
# Everything lies in FOLDER (configuration, keys, logs, state) and listens on loopback, on ports that
# were free: /etc/slurm and a cluster that this machine may belong to are left alone. Runs as root,
# without systemd. The node says it has NODE_CPUS processors, NODE_MEMORY MB and two GPUs, whatever the
# machine has: what is tested is how jobs are placed, not how they are confined (no cgroups). Its
# partitions are those of profiles/slurm/partitions.yaml.
# Started again, it does nothing. On success its last two lines are the environment that every SLURM
# command needs, SLURM_CONF and PATH, one NAME=value each.
set -euo pipefail
folder=${1:?usage: $0 FOLDER}
cpus=${NODE_CPUS:-32}
memory=${NODE_MEMORY:-512000}
node=node1

mkdir -p "$folder" && chmod 755 "$folder" && folder=$(cd "$folder" && pwd)
export SLURM_CONF="$folder/slurm.conf"

# The daemon of this name, by the number that it wrote; it removes the file when it ends.
pid() { cat "$folder/$1.pid" 2>/dev/null; }
alive() { [ -n "$(pid "$1")" ] && kill -0 "$(pid "$1")" 2>/dev/null; }
ready() { sinfo --noheader --format %T 2>/dev/null | grep -Eq '^(idle|mixed|allocated)$'; }
free_ports() {
  python3 - <<'PYTHON'
import socket
held = [socket.socket() for _ in range(2)]
for each in held:
    each.bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in held))
PYTHON
}

done_starting() {
  echo "SLURM_CONF=$SLURM_CONF"
  echo "PATH=$folder/bin:${PATH#"$folder/bin:"}"
  exit 0
}

alive munged && alive slurmctld && alive slurmd && ready && done_starting

mkdir -p "$folder/state" "$folder/spool" "$folder/munge" "$folder/bin"
chmod 755 "$folder/munge"
if [ ! -s "$folder/slurm.conf" ]; then
  read -r control_port node_port <<<"$(free_ports)"
  # A count of GPUs, or /dev/null as their file, drains the node: each needs a file of its own.
  touch "$folder/spool/gpu0" "$folder/spool/gpu1"
  cat >"$folder/gres.conf" <<CONFIGURATION
AutoDetect=off
NodeName=$node Name=gpu File=$folder/spool/gpu[0-1]
CONFIGURATION
  echo "CgroupPlugin=cgroup/v1" >"$folder/cgroup.conf"
  cat >"$folder/slurm.conf" <<CONFIGURATION
ClusterName=test
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$control_port
SlurmdPort=$node_port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
# A job that no node can ever run is refused when it is submitted.
EnforcePartLimits=ALL
# What the test sees in a minute, a cluster does in an hour.
SchedulerParameters=sched_interval=2,bf_interval=5
KillWait=5
MinJobAge=300
ReturnToService=2
GresTypes=gpu
# The node has what stands here, not what the machine has.
SlurmdParameters=config_overrides
NodeName=$node NodeHostname=$(hostname) NodeAddr=127.0.0.1 CPUs=$cpus RealMemory=$memory Gres=gpu:2
PartitionName=cpu Nodes=$node Default=YES MaxTime=12:00:00 OverSubscribe=NO
PartitionName=long Nodes=$node MaxTime=3-0 OverSubscribe=NO
PartitionName=gpu Nodes=$node MaxTime=3-0 OverSubscribe=NO
CONFIGURATION
fi
# The executor plugin takes SLURM_CONF away from the steps of a job: srun is given it again.
printf '#!/bin/sh\nSLURM_CONF="%s" exec "%s" "$@"\n' "$SLURM_CONF" "$(PATH=${PATH#"$folder/bin:"} command -v srun)" \
  >"$folder/bin/srun"
chmod +x "$folder/bin/srun"
if [ ! -s "$folder/munge/key" ]; then
  (umask 077 && head -c 1024 /dev/urandom >"$folder/munge/key")
fi

alive munged || munged --force --socket "$folder/munge/socket" --key-file "$folder/munge/key" \
  --pid-file "$folder/munged.pid" --log-file "$folder/munged.log" --seed-file "$folder/munge/seed"
alive slurmctld || slurmctld -f "$SLURM_CONF"
alive slurmd || slurmd -f "$SLURM_CONF" -N "$node"

for _ in $(seq 60); do
  ready && done_starting
  sleep 1
done
echo "start_cluster: the node of $folder is not ready: $(sinfo --noheader --long --Node 2>&1 | tail -n 1)" >&2
tail -n 20 "$folder"/*.log >&2
exit 1
