"""Shared by the drivers: their arguments, following next_action, and the line of JSON that each prints."""

import asyncio
import json
import re
import sys
from importlib.metadata import version

GIVEN = json.loads(sys.argv[1])
URL = GIVEN["url"]
# The long tool, its arguments, and the answer to its question.
TOOL, ARGUMENTS, ANSWER = GIVEN["tool"], GIVEN["arguments"], GIVEN["answer"]
# A tool that asks a question and waits for its answer until it is cancelled.
ENDLESS = GIVEN["endless"]


def next_of(seen, tool, arguments):
    """The next call, as (tool, arguments, seconds to wait before it, is it an answer?); None once the work has ended.

    `tool` and `arguments` are those of the last call, which may have to be repeated. `seen` is what the framework hands to its model: the envelope as data, its text, or a list of the result's blocks.
    """
    if isinstance(seen, list):
        seen = "\n".join(str(block) for block in seen)
    if isinstance(seen, dict):
        action = seen.get("next_action")
        if not action:
            return None
        call = action.get("tool", tool), action.get("args", arguments)
        return *call, action["check_after_seconds"], "question" in action
    repeat = re.search(r"Call again in (\d+) s\.", seen)
    if repeat:
        return tool, arguments, int(repeat[1]), False
    call = re.search(r"(?:In (\d+) s )?call (operation_get|operation_answer) (?=\{)", seen)
    if not call:
        return None
    following, _ = json.JSONDecoder().raw_decode(seen, call.end())
    return call[2], following, int(call[1] or 0), call[2] == "operation_answer"


async def follow(call):
    """Drives the long tool by next_action alone.

    `call(tool, arguments)` makes a call through the framework and returns what its model would see.
    """
    calls = [TOOL]
    tool, arguments = TOOL, ARGUMENTS
    seen = await call(tool, arguments)
    while following := next_of(seen, tool, arguments):
        tool, arguments, seconds, is_answer = following
        if is_answer:
            arguments = {**arguments, "content": ANSWER}
        else:
            await asyncio.sleep(seconds)
        calls.append(tool)
        seen = await call(tool, arguments)
    return {"way": "polling", "calls": calls, "result": seen}


def run(main):
    """Runs a driver, whose `main` returns {protocol, tools, runs, ...}, and prints that as one line of JSON."""
    versions = {name: version(name) for name in GIVEN["packages"]}
    print(json.dumps({"versions": versions, **asyncio.run(main())}))
