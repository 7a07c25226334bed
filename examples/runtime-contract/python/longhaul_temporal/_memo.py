"""The memo fields that have an operation's state, and their limits. Lists and heartbeats carry the memo, so it stays small."""

from __future__ import annotations

import json
from typing import Any, Mapping

START_MEMO = "longhaul"
STATE_MEMO = "operation"
INPUT_MEMO = "operation_input"
DETAILS_MEMO = "operation_details"
PARTIAL_MEMO = "operation_partial"

FIELD_OF = {"inputRequests": INPUT_MEMO, "answers": DETAILS_MEMO, "partial": PARTIAL_MEMO}
"""Memo field of a part of the state. All others are in ``STATE_MEMO``."""

REQUEST_LIMIT_BYTES = 32 * 1024
INPUT_LIMIT_BYTES = 128 * 1024
VALUE_LIMIT_BYTES = 32 * 1024
"""Of the details, and of the partial result."""
_SHOWN_TEXT_BYTES = 400
_WHOLE_TEXT_BYTES = 8 * 1024
_SHOWN_KEYS = 20
_CUT_MARK = "…"


def json_bytes(value: Any) -> int:
    """Size as the SDK writes it: JSON in ASCII."""
    return len(json.dumps(value, separators=(",", ":"), default=str))


def cut_text(text: str, limit_bytes: int) -> str:
    """The beginning that fits, with a mark; the text itself if it is short enough."""
    if json_bytes(text) <= limit_bytes:
        return text
    size, end = json_bytes(_CUT_MARK), 0
    while (size := size + json_bytes(text[end]) - 2) <= limit_bytes:
        end += 1
    return text[:end] + _CUT_MARK


def state_fields(state: Mapping[str, Any]) -> dict[str, Any]:
    """The state in the fields that the memo gets."""
    shown = {name: value for name, value in state.items() if name not in FIELD_OF}
    texts = {}
    for name, holder in (("stage", shown), ("message", shown.get("progress", {}))):
        short = cut_text(holder.get(name, ""), _SHOWN_TEXT_BYTES)
        if short == holder.get(name, ""):
            continue
        texts[name] = cut_text(holder[name], _WHOLE_TEXT_BYTES)
        shown.update({name: short} if holder is shown else {"progress": {**holder, name: short}})
    if texts:
        shown["cut"] = list(texts)
    requests = state.get("inputRequests", {})
    if requests:
        shown["questions"] = {"count": len(requests), "keys": list(requests)[:_SHOWN_KEYS]}
    fields = {STATE_MEMO: shown, INPUT_MEMO: requests, DETAILS_MEMO: _details(state.get("answers", []), texts)}
    if "partial" in state:
        value = {"value": state["partial"]}
        fields[PARTIAL_MEMO] = value if json_bytes(value) <= VALUE_LIMIT_BYTES else {"isTooLarge": True}
    return fields


def _details(answers: list[Any], texts: Mapping[str, str]) -> dict[str, Any]:
    """The latest answers that fit, and the texts that were cut."""
    details = {"answers": answers, **({"texts": texts} if texts else {})}
    return details if json_bytes(details) <= VALUE_LIMIT_BYTES or not answers else _details(answers[1:], texts)


def continued_fields(state: Mapping[str, Any]) -> dict[str, Any]:
    """Fields for the run that continues this one. A partial result that is too large for the memo ends with this run."""
    left_out = ("inputRequests", "questionsSince")
    fields = state_fields({name: value for name, value in state.items() if name not in left_out})
    if "value" not in fields.get(PARTIAL_MEMO, {}):
        fields.pop(PARTIAL_MEMO, None)
    return fields


def continued_state(memo: Mapping[str, Any]) -> dict[str, Any]:
    """The state in the memo that a run started with."""
    state = {name: value for name, value in memo.get(STATE_MEMO, {}).items() if name != "cut"}
    details = memo.get(DETAILS_MEMO, {})
    texts = details.get("texts", {})
    if "stage" in texts:
        state["stage"] = texts["stage"]
    if "message" in texts:
        state["progress"] = {**state["progress"], "message": texts["message"]}
    if "answers" in details:
        state["answers"] = details["answers"]
    if "value" in memo.get(PARTIAL_MEMO, {}):
        state["partial"] = memo[PARTIAL_MEMO]["value"]
    return state
