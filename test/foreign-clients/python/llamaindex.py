"""LlamaIndex's tools for MCP, llama-index-tools-mcp: polling. Each call is a session of its own."""

import driver
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec


async def main():
    client = BasicMCPClient(driver.URL)
    tools = {tool.metadata.name: tool for tool in await McpToolSpec(client).to_tool_list_async()}
    # As for a model: the parameters of each tool as JSON Schema.
    for tool in tools.values():
        tool.metadata.to_openai_tool(skip_length_check=True)

    async def call(tool, arguments):
        return (await tools[tool].acall(**arguments)).content

    async with client._run_session() as session:
        protocol = session.protocol_version
    return {"protocol": protocol, "tools": list(tools), "runs": [await driver.follow(call)]}


driver.run(main)
