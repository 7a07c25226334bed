"""Reports of activities on the wire: in heartbeats, around results, and in details of failures."""

from __future__ import annotations

import json
from typing import Any, Mapping

from temporalio.api.common.v1 import Payload

OPERATION_HEADER = "longhaul"
"""Header of an operation's activities: the operation's token. Only their results are wrapped."""

_JSON = b"json/plain"
_NULL = b"binary/null"


def report_in(detail: Any) -> dict[str, Any] | None:
    """Progress in heartbeat details, or in a detail of a failure."""
    if isinstance(detail, dict) and detail.get("longhaul") == "report":
        return detail.get("progress")
    return None


def wrap_result(result: Payload, progress: Mapping[str, Any]) -> Payload | None:
    """An activity's result with its progress; None for a result that is not JSON, which stays as it is."""
    encoding = result.metadata.get("encoding")
    if encoding not in (_JSON, _NULL):
        return None
    head = json.dumps({"longhaul": "result", "progress": progress}).encode()
    data = b"null" if encoding == _NULL else result.data
    return Payload(metadata={"encoding": _JSON}, data=head[:-1] + b', "result": ' + data + b"}")


def unwrap_result(payload: Payload) -> tuple[Payload, dict[str, Any] | None]:
    """A result as the activity returned it, and its progress."""
    if payload.metadata.get("encoding") != _JSON or b'"longhaul"' not in payload.data:
        return payload, None
    value = json.loads(payload.data)
    if not isinstance(value, dict) or value.get("longhaul") != "result":
        return payload, None
    result = value.get("result")
    if result is None:
        return Payload(metadata={"encoding": _NULL}), value.get("progress")
    return Payload(metadata={"encoding": _JSON}, data=json.dumps(result).encode()), value.get("progress")
