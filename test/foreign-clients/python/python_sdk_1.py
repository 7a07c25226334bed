"""The official Python SDK, 1.x: waits with a callback for questions, tasks of 2025-11-25, and polling without either."""

import driver
import mcp.types as types
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

questions = []


async def answer(context, params):
    questions.append(params.message)
    return types.ElicitResult(action="accept", content=driver.ANSWER)


async def main():
    async with streamable_http_client(driver.URL) as (read, write, _), ClientSession(read, write) as session:
        await session.initialize()

        async def call(tool, arguments):
            return (await session.call_tool(tool, arguments)).structuredContent

        polled = await driver.follow(call)

    async with (
        streamable_http_client(driver.URL) as (read, write, _),
        ClientSession(read, write, elicitation_callback=answer) as session,
    ):
        initialized = await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        waited = await session.call_tool(driver.TOOL, {**driver.ARGUMENTS, "wait": True})
        return {
            "protocol": initialized.protocolVersion,
            "tools": tools,
            "questions": questions,
            "runs": [
                polled,
                {"way": "elicitation", "result": waited.structuredContent},
                {"way": "tasks", **await as_task(session)},
            ],
        }


async def as_task(session):
    created = await session.experimental.call_tool_as_task(driver.TOOL, driver.ARGUMENTS)
    task_id = created.task.taskId
    async for status in session.experimental.poll_task(task_id):
        # The question comes while the client waits for the result.
        if status.status == "input_required":
            break
    result = await session.experimental.get_task_result(task_id, types.CallToolResult)
    return {"id": task_id, "result": result.structuredContent}


driver.run(main)
