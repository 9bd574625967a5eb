#!/usr/bin/env bash
# Build the HTML report when something that it shows is newer: envs/report.sh REPORT SNAKEMAKE…
set -euo pipefail
report=$1
shift
folder=$(dirname "$report")
if [ -f "$report" ] && [ -z "$(find "$folder" -newer "$report" -type f \( -name '*.csv' -o -name '*.png' -o -name '*.pdf' -o -name '*.tex' \) -print -quit)" ]; then
  echo "report: $report is up to date"
  exit 0
fi
mkdir -p "$folder"
"$@" --quiet --report "$report.part.html" --report-stylesheet rules/report/style.css
mv "$report.part.html" "$report"
echo "report: $report"
