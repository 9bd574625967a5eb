"""Reading what a chat-completions server sends back: an answer, or a fault with its cause.

Pure functions over bytes and headers, so that every fault can be tested without a network. The body
is parsed here and not by the client library, which builds its objects leniently: a cut or foreign
body must be noticed.
"""

from __future__ import annotations

import email.utils
import json
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

NextStep = Literal["retry", "give_up", "stop"]

# Temporary by definition (RFC 9110, RFC 6585); every 5xx is added in `status_fault`.
RETRIED_STATUS = frozenset({408, 409, 425, 429})
# A server that answers with 4xx did no work that it could bill, except where somebody hung up
# meanwhile; nor did one that is overloaded.
_GAVE_UP_WAITING = frozenset({408, 499})
_OVERLOADED = frozenset({503, 529})
# Codes with which servers say "no money left", which waiting does not cure. A plain 429 is not one.
EXHAUSTED = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "insufficient_credits",
        "account_deactivated",
    }
)
LONGEST_DETAIL = 300


class AttemptError(Exception):
    """One attempt failed.

    `cause` is the short name that starts the error text, `kind` says what to do: `retry`,
    `give_up` (this request will never succeed) or `stop` (no request will). `wait` is the
    server's Retry-After in seconds. `refused` says that the server did no work that it could bill.
    """

    def __init__(
        self,
        kind: NextStep,
        cause: str,
        detail: str,
        wait: float | None = None,
        *,
        refused: bool = False,
    ) -> None:
        super().__init__(f"{cause}: {detail}")
        self.refused = refused
        self.kind: NextStep = kind
        self.cause = cause
        self.detail = detail
        self.wait = wait


@dataclass(frozen=True)
class Answer:
    """The first choice of a completion. `reasoning` is what the server itself separated."""

    text: str
    reasoning: str | None
    finish_reason: str
    usage: dict[str, int | None]
    model: str | None = None
    identifier: str | None = None
    fingerprint: str | None = None


def no_usage() -> dict[str, int | None]:
    """The usage of an answer whose tokens nobody counted."""
    return {"prompt": None, "completion": None, "reasoning": None}


def one_line(text: str, limit: int = LONGEST_DETAIL) -> str:
    """Text of unknown origin as one short printable line, HTML tags removed."""
    text = re.sub(r"(?is)<(script|style)\b.*?</\1>|<[^>]{0,500}>", " ", text[:20_000])
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def read_completion(body: bytes) -> Answer:
    """The answer in the body of a 200 reply; raises AttemptError for everything that is not one."""
    try:
        reply = json.loads(body)
    except ValueError as error:
        shown = one_line(body[:2000].decode("utf-8", "replace"), 80)
        raise AttemptError(
            "retry", "bad json", f"{one_line(str(error), 120)}; body: {shown!r}"
        ) from None
    if not isinstance(reply, dict):
        raise AttemptError(
            "retry", "bad reply", f"expected an object, found {type(reply).__name__}"
        )
    if reply.get("error"):
        # OpenRouter and others report an upstream failure inside a 200 reply.
        raise status_fault(_embedded_status(reply["error"]), {}, body)
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices:
        raise AttemptError("retry", "empty choices", "the reply has no answer in it")
    return _read_choice(reply, choices[0])


def _read_choice(reply: dict[str, Any], choice: Any) -> Answer:
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise AttemptError("retry", "bad reply", "the first choice has no message")
    finish = choice.get("finish_reason") or "stop"
    if not isinstance(finish, str):
        raise AttemptError("retry", "bad reply", "finish_reason is not text")
    if choice.get("error") or finish == "error":
        raise AttemptError(
            "retry", "server error", _message_of(choice.get("error") or {}) or "no details"
        )
    if finish == "content_filter" or message.get("refusal"):
        said = one_line(str(message.get("refusal") or "the provider withheld the answer"))
        raise AttemptError("give_up", "content filter", said)
    text, inline = _content(message.get("content"))
    reasoning = next(
        (
            message[name]
            for name in ("reasoning_content", "reasoning", "thinking")
            if isinstance(message.get(name), str) and message[name]
        ),
        inline,
    )
    return Answer(
        text=text,
        reasoning=reasoning,
        finish_reason=finish,
        usage=_usage(reply.get("usage")),
        model=_text_or_none(reply.get("model")),
        identifier=_text_or_none(reply.get("id")),
        fingerprint=_text_or_none(reply.get("system_fingerprint")),
    )


def _content(content: Any) -> tuple[str, str | None]:
    """Text and inline reasoning of a message; content is text, nothing, or a list of parts."""
    if content is None:
        return "", None
    if isinstance(content, str):
        return content, None
    if not isinstance(content, list):
        raise AttemptError(
            "retry", "bad reply", f"content is {type(content).__name__}, expected text"
        )
    texts, thoughts = [], []
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in {"text", "output_text"} and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind in {"thinking", "reasoning"}:
            thought = part.get("thinking", part.get("text"))
            thoughts.append(_content(thought)[0])
        else:
            raise AttemptError(
                "give_up", "bad reply", f"unknown content part {one_line(str(kind), 40)!r}"
            )
    return "".join(texts), "".join(thoughts) or None


def _usage(usage: Any) -> dict[str, int | None]:
    out = no_usage()
    if not isinstance(usage, dict):
        return out
    details = usage.get("completion_tokens_details")
    out["prompt"] = _count(usage.get("prompt_tokens"))
    out["completion"] = _count(usage.get("completion_tokens"))
    if isinstance(details, dict):
        out["reasoning"] = _count(details.get("reasoning_tokens"))
    return out


def billed_tokens(body: bytes) -> tuple[int | None, int | None]:
    """Prompt and completion tokens in any reply's usage; None where it does not say.

    Some servers leave reasoning out of `completion_tokens` and have it in `total_tokens` only:
    what the total has beyond the prompt was generated, and is billed.
    """
    try:
        reply = json.loads(body)
    except ValueError:
        return None, None
    usage = reply.get("usage") if isinstance(reply, dict) else None
    if not isinstance(usage, dict):
        return None, None
    prompt, completion, total = (
        _count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens", "total_tokens")
    )
    if prompt is not None and completion is not None and total is not None:
        completion = max(completion, total - prompt)
    return prompt, completion


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def status_fault(status: int, headers: Mapping[str, str], body: bytes) -> AttemptError:
    """What an HTTP error status means for this request and for the run."""
    cause = f"http {status}"
    error = _error_object(body)
    detail = _message_of(error) or one_line(body.decode("utf-8", "replace")) or "no details"
    refused = status in _OVERLOADED or (400 <= status < 500 and status not in _GAVE_UP_WAITING)
    if status == 429 and _exhausted(error):
        return AttemptError("stop", cause, detail, refused=refused)
    if status in RETRIED_STATUS or status >= 500:
        wait = retry_after(headers, error)
        return AttemptError("retry", cause, detail, wait, refused=refused)
    if status == 403 and _moderated(error):
        return AttemptError("give_up", "content filter", detail, refused=refused)
    if status in {401, 402, 403, 404}:
        return AttemptError("stop", cause, detail, refused=refused)
    return AttemptError("give_up", cause, detail, refused=refused)


def _error_object(body: bytes) -> dict[str, Any]:
    """The `error` object of an error reply, `{}` where there is none (an HTML page, text)."""
    try:
        reply = json.loads(body)
    except ValueError:
        return {}
    if isinstance(reply, list) and reply:  # Google wraps its errors in a list.
        reply = reply[0]
    if not isinstance(reply, dict):
        return {}
    error = reply.get("error", reply)
    return error if isinstance(error, dict) else {"message": error}


def _message_of(error: dict[str, Any]) -> str:
    for name in ("message", "detail"):
        if error.get(name):
            value = error[name]
            return one_line(value if isinstance(value, str) else json.dumps(value))
    return ""


def _embedded_status(error: Any) -> int:
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code.isascii() and code.isdigit():
        code = int(code)
    return code if isinstance(code, int) and 400 <= code <= 599 else 500


def _exhausted(error: dict[str, Any]) -> bool:
    """True when a 429 says that the account, not the moment, is the problem.

    Google answers 429 "exceeded your current quota" for the limit per minute too; only a quota
    counted per day will not come back during the run.
    """
    if EXHAUSTED & {str(error.get("code")), str(error.get("type"))}:
        return True
    return "PerDay" in json.dumps(error.get("details", ""))


def _moderated(error: dict[str, Any]) -> bool:
    metadata = error.get("metadata")
    return isinstance(metadata, dict) and bool({"reasons", "flagged_input"} & set(metadata))


def retry_after(
    headers: Mapping[str, str], error: Mapping[str, Any] | None = None, now: float | None = None
) -> float | None:
    """Seconds that the server asks to wait, `None` when it does not say.

    Reads `retry-after-ms`, `retry-after` (seconds or a date, RFC 9110 section 10.2.3) and Google's
    RetryInfo in the error's details. `now` is the Unix time that a date is compared with.
    """
    lowered = {name.lower(): value for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _finite(lowered.get(name))
        if seconds is not None:
            return max(0.0, seconds * unit)
    if "retry-after" in lowered:
        try:
            date = email.utils.parsedate_to_datetime(lowered["retry-after"])
        except ValueError:
            return None
        return max(0.0, date.timestamp() - (time.time() if now is None else now))
    details = (error or {}).get("details")
    for entry in details if isinstance(details, list) else []:
        if isinstance(entry, dict) and str(entry.get("retryDelay", "")).endswith("s"):
            return _finite(entry["retryDelay"][:-1])
    return None


def _finite(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None
