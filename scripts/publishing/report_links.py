"""Make the links of the report's pages lead to the files beside it.

Snakemake embeds every page as a `data:` address, from which a relative link leads nowhere and a
browser opens no file. A short script in the report shows them as documents in their own folder
instead. Called by envs/report.sh: `python -m scripts.publishing.report_links REPORT FOLDER`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from scripts.files import DataError, write_text

SCRIPT = Path(__file__).with_suffix(".js")
# What the script builds on; another Snakemake may have renamed it.
_NEEDED = "class ContentDisplay extends"
_END = "</body>"


def with_links(report: str, folder: str) -> str:
    """The report with the script; `folder` is where it lies, as its results name it.

    Raises DataError for a report that the script would not fit.
    """
    if _NEEDED not in report or _END not in report:
        raise DataError(
            "Snakemake's report is not built as this script expects (no ContentDisplay); correct "
            f"{SCRIPT.name} for this version of Snakemake"
        )
    script = SCRIPT.read_text(encoding="utf-8").replace('"{{folder}}"', json.dumps(folder))
    head, end, tail = report.rpartition(_END)
    return f"{head}<script>\n{script}</script>\n{end}{tail}"


def main(arguments: list[str]) -> None:
    """Add the script to a report, in place."""
    path, folder = arguments
    text = Path(path).read_text(encoding="utf-8")
    write_text(path, with_links(text, folder))


if __name__ == "__main__":
    main(sys.argv[1:])
