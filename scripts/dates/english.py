"""English as the sources, the law texts and the seed questions are written in: their dates' words.

`data/languages/en.yaml` has the same months and ordinals for the benchmark, where English is one
language among others (a test compares the two); a reader of English sources follows no language of
a run.
"""

from __future__ import annotations

MONTHS: tuple[tuple[str, ...], ...] = (
    *(("January",), ("February",), ("March",), ("April",), ("May",), ("June",)),
    *(("July",), ("August",), ("September",), ("October",), ("November",), ("December",)),
)
ABBREVIATIONS: tuple[tuple[str, ...], ...] = (
    *(("Jan",), ("Feb",), ("Mar",), ("Apr",), (), ("Jun",)),
    *(("Jul",), ("Aug",), ("Sep", "Sept"), ("Oct",), ("Nov",), ("Dec",)),
)

_BELOW_20 = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_BELOW_20 += ["eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"]
_BELOW_20 += ["eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"]
_ORDINALS += ["ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth"]
_ORDINALS += ["fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"]

#: Words of 0 to 99 and their values; a blank joins tens and units.
NUMBER_WORDS: dict[str, int] = {
    **{word: value for value, word in enumerate(_BELOW_20)},
    **{word: 10 * ten for ten, word in enumerate(_TENS, start=2)},
    **{
        f"{word} {_BELOW_20[unit]}": 10 * ten + unit
        for ten, word in enumerate(_TENS, start=2)
        for unit in range(1, 10)
    },
}
#: Ordinals that days of a month are called by: first to thirty first.
ORDINAL_WORDS: dict[str, int] = {
    **{word: value for value, word in enumerate(_ORDINALS, start=1)},
    **{f"twenty {word}": 20 + value for value, word in enumerate(_ORDINALS[:9], start=1)},
    **{"twentieth": 20, "thirtieth": 30, "thirty first": 31},
}


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `3rd`, `4th`, … `11th`, `12th`, `13th`, … `21st`, …"""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{({1: 'st', 2: 'nd', 3: 'rd'}).get(number % 10, 'th')}"
