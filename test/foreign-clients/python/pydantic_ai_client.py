"""Pydantic AI: its toolset drives tasks of 2026-07-28 by itself, and polls where it speaks an older revision."""

import driver
from fastmcp import Client
from pydantic_ai import RunContext
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RunUsage

# Names a model without asking one.
CONTEXT = RunContext(deps=None, model=TestModel(), usage=RunUsage())
questions = []


async def answer(message, response_type, params, context):
    questions.append(message)
    return driver.ANSWER


def caller(toolset, tools):
    async def call(tool, arguments):
        return await toolset.call_tool(tool, arguments, CONTEXT, tools[tool])

    return call


async def main():
    async with MCPToolset(driver.URL, elicitation_handler=answer) as toolset:
        tools = await toolset.get_tools(CONTEXT)
        result = await caller(toolset, tools)(driver.TOOL, driver.ARGUMENTS)
        protocols = [toolset.client.session.protocol_version]
    async with MCPToolset(Client(driver.URL, mode="legacy")) as toolset:
        polled = await driver.follow(caller(toolset, await toolset.get_tools(CONTEXT)))
        protocols.append(toolset.client.session.protocol_version)
    return {
        "protocol": ", ".join(protocols),
        "tools": list(tools),
        "questions": questions,
        "runs": [{"way": "tasks", "result": result}, polled],
    }


driver.run(main)
