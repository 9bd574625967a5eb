"""Foreign text as a prompt shows it.

Documents, questions and options are hostile: nothing in them may end a turn or begin one. Marks
that chat templates and tokenisers read as control tokens are broken by a blank, and so are headings
of a plain transcript; nothing else is changed, so instructions, JSON or markup stay visible.
"""

from __future__ import annotations

import re

# Control tokens of known templates: <|name|>, <start_of_turn>, </s>, [INST], <<SYS>>, <think>.
_CONTROL = re.compile(
    r"<(?=\|)|<(?=[/|]?(?:s|bos|eos|pad|unk|mask|start_of_turn|end_of_turn|think|thinking|tool_call"
    r"|tool_response|channel|im_start|im_end|system|user|assistant|model|unused\d+|extra_id_\d+"
    r"|\uff5c[^<>\n]{1,40})[|\uff5c]?>)|\[(?=/?(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS)\])"
    r"|<(?=</?SYS>>)",
    re.IGNORECASE,
)
# The ends of <|…|> tokens, which a template may also read alone.
_CONTROL_END = re.compile(r"\|(?=>)")
# Turns of the transcript that base models get (scripts/inference/dialogue.py).
_HEADING = re.compile(r"^(?=#{3})", re.MULTILINE)


def shown(text: str) -> str:
    """The text with control marks broken and lone surrogates escaped; applying it twice is once."""
    text = _CONTROL.sub(lambda match: f"{match[0]} ", text)
    text = _HEADING.sub(" ", _CONTROL_END.sub("| ", text))
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def one_line(text: str) -> str:
    """The shown text on one line, for an entry of a numbered list: it cannot add an entry."""
    return shown(" ".join(text.split()))
