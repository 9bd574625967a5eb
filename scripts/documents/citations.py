"""References that a legal text makes: sections of statutes and codes of the Harmonized System."""

from __future__ import annotations

import re

_NUMBER = r"[0-9০-৯]{1,3}"
#: ধারা or `section` with a number; a sub-section (উপ-ধারা, sub-section) cites no section by itself.
_SECTION = re.compile(
    rf"(?<!উপ)(?<!উপ-)(?<!উপ )ধারা(?:র|সমূহ|সমূহের)?\s*[-–:]?\s*{_NUMBER}"
    rf"|(?<!sub)(?<!sub-)(?<!sub )\bsections?\s*[-–:]?\s*{_NUMBER}",
    re.I,
)
#: National tariff lines and their six-digit subheadings: 8445.11.00.
_LINE = re.compile(r"(?<![\d.])[0-9০-৯]{4}\.[0-9০-৯]{2}\.[0-9০-৯]{2}(?![\d.]?\d)")
#: Headings (84.45) and subheadings (8445.11): decimals, unless the words before say otherwise.
_HEADING = re.compile(
    r"(?<![\d.])(?:[0-9০-৯]{2}\.[0-9০-৯]{2}|[0-9০-৯]{4}\.[0-9০-৯]{2})(?![\d.]?\d)"
)
_CONTEXT = re.compile(
    r"(?:\bH\.?\s?S\.?\s*(?:Codes?|Nos?)?|\b(?:sub-?)?headings?(?:\s+Nos?)?|এইচ\.?\s?এস\.?(?:\s*কোড)?|"
    r"হেডিং|শিরোনাম\s+সংখ্যা|শিরোনামা)[\s.:]*(?:নং|সংখ্যা|No\.?|Codes?)?[\s.:(]*$",
    re.I,
)
_LISTED = re.compile(r"\s*(?:,|;|/|and|or|to|ও|এবং|বা|হইতে)\s*", re.I)
_WINDOW = 40


def section_citations(text: str) -> list[str]:
    """Every place where a text cites a section by number, as printed, in order.

    Counted once for each citing word: `sections 5, 6 and 7` is one citation.
    """
    return [" ".join(match.group().split()) for match in _SECTION.finditer(text)]


def hs_codes(text: str) -> list[str]:
    """Every H.S. code of a text as printed, in order.

    Eight digits (`8445.11.00`) count anywhere. A heading (`84.45`) or subheading (`8445.11`) looks
    like a decimal, so it counts only right after a word such as H.S. Code or heading, or as the
    next of a list that began so.
    """
    out = [(match.start(), match.group()) for match in _LINE.finditer(text)]
    previous = -1
    for match in _HEADING.finditer(text):
        before = text[max(0, match.start() - _WINDOW) : match.start()]
        listed = previous >= 0 and bool(_LISTED.fullmatch(text[previous : match.start()]))
        if listed or _CONTEXT.search(before):
            out.append((match.start(), match.group()))
            previous = match.end()
    return [code for _, code in sorted(out)]
