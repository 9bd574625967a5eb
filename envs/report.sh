#!/usr/bin/env bash
# Build the HTML report when something that it shows is newer: envs/report.sh REPORT SNAKEMAKE…
set -euo pipefail
report=$1
shift
folder=$(dirname "$report")
if [ -f "$report" ] && [ -z "$(find "$folder" -newer "$report" -type f \( -name '*.csv' -o -name '*.png' -o -name '*.pdf' -o -name '*.html' -o -name '*.tex' \) ! -path "$report" -print -quit)" ]; then
  echo "report: $report is up to date"
  exit 0
fi
mkdir -p "$folder"
# Snakemake leaves coroutines unawaited while it reports, and Python says so for each of them.
export PYTHONWARNINGS="${PYTHONWARNINGS:-ignore::RuntimeWarning}"
"$@" --quiet --report "$report.part.html"
# Its pages link to files beside it.
python -m scripts.publishing.report_links "$report.part.html" "$folder"
mv "$report.part.html" "$report"
echo "report: $report"
