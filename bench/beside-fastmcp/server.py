"""FastMCP with fastmcp-tasks, its worker in process: the tools of bench/beside-fastmcp.ts.

python server.py PORT REDIS_URL
"""

import asyncio
import sys

from fastmcp import FastMCP
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension

port, redis_url = sys.argv[1:]
server = FastMCP("bench")
# As many tasks at once as a Temporal worker runs activities; FastMCP's default is 10.
server.add_extension(TasksExtension(url=redis_url, concurrency=100))


@server.tool(task=TaskConfig(mode="required"))
async def noop_activity() -> dict:
    return {"done": True}


@server.tool(task=TaskConfig(mode="required"))
async def half_second() -> dict:
    await asyncio.sleep(0.5)
    return {"done": True}


server.run(transport="http", host="127.0.0.1", port=int(port), show_banner=False, log_level="warning")
