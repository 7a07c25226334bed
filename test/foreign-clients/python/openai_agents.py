"""The OpenAI Agents SDK: polling by the text, with its default limit of 5 seconds a call."""

import json

import driver
from agents import Agent, RunContextWrapper
from agents.mcp import MCPServerStreamableHttp, MCPUtil
from agents.tool_context import ToolContext

AGENT = Agent(name="driver")


async def main():
    async with MCPServerStreamableHttp({"url": driver.URL}) as server:
        listed = await MCPUtil.get_all_function_tools([server], False, RunContextWrapper(None), AGENT)
        tools = {tool.name: tool for tool in listed}

        async def call(tool, arguments):
            text = json.dumps(arguments)
            context = ToolContext(None, tool_name=tool, tool_call_id="1", tool_arguments=text)
            output = await tools[tool].on_invoke_tool(context, text)
            parts = output if isinstance(output, list) else [output]
            return "\n".join(part["text"] if isinstance(part, dict) else str(part) for part in parts)

        protocol = server.session.protocol_version
        return {"protocol": protocol, "tools": list(tools), "runs": [await driver.follow(call)]}


driver.run(main)
