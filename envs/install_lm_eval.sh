#!/bin/sh
# Install lm-evaluation-harness, for the comparison of speed in tests/benchmarks/bench_inference.py.
# Usage: envs/install_lm_eval.sh FOLDER [VENV]. The folder becomes a virtual environment of about
# 160 MB that borrows PyTorch and transformers from VENV (default: .venv, the project's own), so that
# both sides compute with the same libraries; nothing is installed into VENV.
set -eu

folder=${1:?usage: $0 FOLDER [VENV]}
venv=${2:-.venv}
here=$(dirname "$0")

[ -x "$venv/bin/python" ] || { echo "$0: $venv is no virtual environment; run make setup-dev" >&2; exit 1; }
# Own packages come first on the path, the borrowed ones after them.
borrowed=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
[ -x "$folder/bin/python" ] || "$venv/bin/python" -m venv "$folder"
own=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
# Everything is named in the list, dependencies included.
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$here/lm-eval.in"
echo "$borrowed" >"$own/borrowed.pth"
"$folder/bin/python" -c "from lm_eval.models.huggingface import HFLM; import lm_eval; print('lm-evaluation-harness', lm_eval.__version__, 'is ready')"
