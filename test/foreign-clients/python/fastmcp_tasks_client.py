"""FastMCP with fastmcp-tasks: tasks of 2026-07-28, by the call that hides them and by the task's handle."""

import driver
from fastmcp import Client
from fastmcp.exceptions import ToolError
from fastmcp_tasks import call_tool_task

questions = []


async def answer(message, response_type, params, context):
    questions.append(message)
    return driver.ANSWER


async def main():
    async with Client(driver.URL, elicitation_handler=answer) as client:
        tools = [tool.name for tool in await client.list_tools()]
        hidden = await client.call_tool(driver.TOOL, driver.ARGUMENTS)
        task = await call_tool_task(client, driver.TOOL, driver.ARGUMENTS)
        by_handle = await task.result()
        return {
            "protocol": client.session.protocol_version,
            "tools": tools,
            "questions": questions,
            "runs": [
                {"way": "tasks", "result": hidden.structured_content},
                {"way": "tasks", "id": task.task_id, "result": by_handle.structured_content},
            ],
            "cancelled": await cancel(client),
        }


async def cancel(client):
    task = await call_tool_task(client, driver.ENDLESS["tool"], driver.ENDLESS["arguments"])
    await task.wait(state="input_required")
    await task.cancel()
    ended = await task.wait()
    try:
        await task.result()
    except ToolError as error:
        return {"id": task.task_id, "status": ended.status, "error": str(error)}


driver.run(main)
