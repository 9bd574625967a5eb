#!/usr/bin/env bash
# Set up the virtual environment: envs/setup.sh VENV LOCKFILE
# Plain pip, every package pinned and checked by hash. PyTorch is its CPU build; where pip does not
# find it, TORCH_INDEX names an index that has it.
set -euo pipefail
venv=$1
lock=$2
stamp="$venv/.installed-$(basename "$lock").$(sha256sum "$lock" | cut -c1-16)"
[ -f "$stamp" ] && exit 0

python=${PYTHON:-}
if [ -z "$python" ]; then
  for candidate in python3.11 python3; do
    if command -v "$candidate" >/dev/null && "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
      python=$candidate
      break
    fi
  done
fi
if [ -z "$python" ]; then
  echo "setup: Python 3.11 was not found; install it, or name it: make PYTHON=/path/to/python3.11" >&2
  exit 1
fi
for found in "$python" "$venv/bin/python"; do
  [ "$found" = "$python" ] || [ -e "$found" ] || continue
  version=$("$found" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || echo "no Python")
  if [ "$version" != 3.11 ]; then
    echo "setup: $found is $version, the lock files are for Python 3.11; name one (make PYTHON=/path/to/python3.11)" >&2
    [ "$found" = "$python" ] || echo "setup: and remove $venv, which was made with another" >&2
    exit 1
  fi
done
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"

echo "setup: installing $(grep -c '^[a-z]' "$lock") locked packages into $venv (a few minutes the first time)"
log="$venv/install.log"
if ! "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
  ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX"} --require-hashes -r "$lock" >"$log" 2>&1; then
  grep -v '^WARNING' "$log" | tail -n 20 >&2
  if grep -q 'torch==' "$log"; then
    cat >&2 <<'MESSAGE'
setup: pip did not find the CPU build of PyTorch that the lock file names. Name an index that has it
(PyTorch's own CPU index is described under "Start locally" on pytorch.org), for example
    make paper TORCH_INDEX=https://download.pytorch.org/whl/cpu
MESSAGE
  fi
  exit 1
fi
touch "$stamp"
