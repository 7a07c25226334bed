"""The official Python SDK, 2.x: waits with a callback for questions, and polling without it, in both revisions."""

import driver
import mcp_types as types
from mcp import Client

questions = []


async def answer(context, params):
    questions.append(params.message)
    return types.ElicitResult(action="accept", content=driver.ANSWER)


async def main():
    runs, protocols, tools = [], [], []
    for mode in ["auto", "legacy"]:
        async with Client(driver.URL, mode=mode) as client:

            async def call(tool, arguments):
                return (await client.call_tool(tool, arguments)).structured_content

            runs.append(await driver.follow(call))
        async with Client(driver.URL, mode=mode, elicitation_callback=answer) as client:
            protocols.append(client.protocol_version)
            tools = [tool.name for tool in (await client.list_tools()).tools]
            waited = await client.call_tool(driver.TOOL, {**driver.ARGUMENTS, "wait": True})
            runs.append({"way": "elicitation", "result": waited.structured_content})
    return {"protocol": ", ".join(protocols), "tools": tools, "questions": questions, "runs": runs}


driver.run(main)
