"""LangChain's adapter, langchain-mcp-adapters: polling by the text, and waits with its callback for questions."""

import json

import driver
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_mcp_adapters.callbacks import Callbacks
from langchain_mcp_adapters.client import MultiServerMCPClient
from mcp.types import ElicitResult

SERVERS = {"longhaul": {"transport": "streamable_http", "url": driver.URL}}
questions = []
blocks = []


async def answer(context, params, callback_context):
    questions.append(params.message)
    return ElicitResult(action="accept", content=driver.ANSWER)


async def tools_of(**options):
    return {tool.name: tool for tool in await MultiServerMCPClient(SERVERS, **options).get_tools()}


async def invoke(tool, arguments):
    """The tool message, as an agent's tool node gets it."""
    message = await tool.ainvoke({"type": "tool_call", "id": "1", "name": tool.name, "args": arguments})
    blocks.extend(message.content)
    return message


async def main():
    async with MultiServerMCPClient(SERVERS).session("longhaul", auto_initialize=False) as session:
        protocol = (await session.initialize()).protocolVersion
    tools = await tools_of()
    # As for a model: the parameters of each tool as JSON Schema.
    schemas = {name: convert_to_openai_tool(tool) for name, tool in tools.items()}

    async def call(tool, arguments):
        message = await invoke(tools[tool], arguments)
        return "\n".join(block["text"] for block in message.content if block["type"] == "text")

    polled = await driver.follow(call)
    waiting = await tools_of(callbacks=Callbacks(on_elicitation=answer))
    waited = await invoke(waiting[driver.TOOL], {**driver.ARGUMENTS, "wait": True})
    return {
        "protocol": protocol,
        "tools": list(schemas),
        "questions": questions,
        "blocks": [block["type"] for block in blocks],
        "runs": [polled, {"way": "elicitation", "result": json.dumps(waited.artifact["structured_content"])}],
    }


driver.run(main)
