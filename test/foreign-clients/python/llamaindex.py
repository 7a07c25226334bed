"""LlamaIndex's tools for MCP, llama-index-tools-mcp: polling. Each call is a session of its own."""

import driver
from jsonschema import validate
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec


async def main():
    client = BasicMCPClient(driver.URL)
    tools = {tool.metadata.name: tool for tool in await McpToolSpec(client).to_tool_list_async()}
    # As for a model: the parameters of each tool as JSON Schema.
    parameters = {name: tool.metadata.get_parameters_dict() for name, tool in tools.items()}

    async def call(tool, arguments):
        properties = parameters[tool]["properties"]
        # A model may fill in the defaults that it is shown: null for what is optional.
        nulls = {name: None for name, schema in properties.items() if schema.get("default", "") is None}
        validate({**nulls, **arguments}, parameters[tool])
        return (await tools[tool].acall(**{**nulls, **arguments})).content

    async with client._run_session() as session:
        protocol = session.protocol_version
    return {"protocol": protocol, "tools": list(tools), "runs": [await driver.follow(call)]}


driver.run(main)
