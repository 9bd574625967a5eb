#!/usr/bin/env bash
# Make sure that XeLaTeX and the fonts of five scripts are there; exit 0 when they are.
# Installs them with apt where that is allowed, otherwise says what to install and exits 1.
set -u
here=$(cd "$(dirname "$0")" && pwd)
mapfile -t packages < <(grep -v '^#' "$here/tex.txt" | tr -s ' ' '\n' | grep .)

present() {
  command -v xelatex >/dev/null && command -v latexmk >/dev/null && command -v pdftotext >/dev/null &&
    kpsewhich xeCJK.sty >/dev/null && kpsewhich siunitx.sty >/dev/null && kpsewhich bidi.sty >/dev/null &&
    fc-list 2>/dev/null | grep -q 'Noto Serif CJK' && fc-list | grep -q 'NotoSerifBengali\|Noto Serif Bengali' &&
    fc-list | grep -q 'Noto Naskh Arabic'
}

present && exit 0
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then as_root=(sudo -n); else as_root=(false); fi
fi
if command -v apt-get >/dev/null && [ "${as_root[*]:-}" != false ] && [ "${NO_SYSTEM_PACKAGES:-}" = "" ]; then
  echo "tex: installing ${#packages[@]} system packages with apt (about 1 GB, once; NO_SYSTEM_PACKAGES=1 prevents it)"
  log=$(mktemp)
  if "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq >"$log" 2>&1 &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >>"$log" 2>&1 &&
    present; then
    rm -f "$log"
    exit 0
  fi
  tail -n 5 "$log" >&2
fi
cat >&2 <<MESSAGE
tex: XeLaTeX or its fonts are missing and could not be installed here. Everything but the PDF is built.
     For the PDF, install on Debian or Ubuntu:
       sudo apt-get install --no-install-recommends ${packages[*]}
     (other systems: TeX Live with xetex, xeCJK, siunitx, polyglossia and bidi; the Noto fonts; poppler), then run again.
MESSAGE
exit 1
