"""What a reply merely repeats of its prompt: the question, and the instruction behind it.

Small models often say their prompt again instead of answering it, and the prompt offers the words
to answer with: "… one of these words: yes" is no "yes" when the reply was cut off there.
"""

from __future__ import annotations

import re
from itertools import takewhile

#: A question of so many characters is recognised where a reply repeats it or begins to.
QUOTABLE = 12
#: So many characters of the instruction in a row are a repetition, not the same words by chance:
#: more than any way of saying "the final answer is". Chinese says as much in fewer.
COPIED, COPIED_CHINESE = 24, 10
_SENTENCE = re.compile(r"[\n.!?:。！？：؟]")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


def without_echoes(text: str, question: str, instruction: str = "", options: str = "") -> str:
    """The reply without what it repeats of its prompt, each repetition replaced by a line end.

    Left out are the whole question, a last line that is the beginning of the question (the reply
    was cut off in it), and every run of COPIED characters or more that begins in the instruction,
    with the words that lead to it in its sentence. Such a run may go on into `options`, the list of
    words that the prompt offers behind the instruction; the list alone is an answer (to all of it).
    """
    if len(question) >= QUOTABLE:
        text = text.replace(question, "\n")
        head, _, last = text.rpartition("\n")
        if len(last.strip()) >= QUOTABLE and question.startswith(last.strip()):
            text = f"{head}\n"
    return _without_instruction(text, instruction, options) if instruction else text


def _without_instruction(text: str, instruction: str, options: str) -> str:
    """The reply without copied runs of the instruction; the time is linear in the reply."""
    size = COPIED_CHINESE if _CHINESE.search(instruction) else COPIED
    prompt = instruction + options
    starts = range(len(instruction) - size + 1)
    known = {instruction[start : start + size]: start for start in reversed(starts)}
    kept: list[str] = []
    done = place = 0
    while place <= len(text) - size:
        start = known.get(text[place : place + size])
        if start is None:
            place += 1
            continue
        pairs = zip(text[place + size :][: len(prompt)], prompt[start + size :], strict=False)
        length = size + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        before = text[done:place]
        sentence = max((m.end() for m in _SENTENCE.finditer(before)), default=0)
        kept += [before[:sentence], "\n"]
        done = place = place + length
    return "".join([*kept, text[done:]])
