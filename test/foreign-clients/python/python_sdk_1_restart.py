"""The official Python SDK, 1.x: a call that waits while its server is killed. The driver kills it at the first progress."""

import os
import signal
from datetime import timedelta

import driver
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client


async def main():
    kills = []

    async def kill_once(progress, total, message):
        if not kills:
            kills.append(driver.GIVEN["serverPid"])
            os.kill(kills[0], signal.SIGKILL)

    async with streamable_http_client(driver.URL) as (read, write, _), ClientSession(read, write) as session:
        await session.initialize()
        waited = await session.call_tool(
            "slow_compute",
            {"seconds": 15, "label": "killed", "wait": True, "timeout": 100},
            progress_callback=kill_once,
            read_timeout_seconds=timedelta(seconds=120),
        )
    return {"kills": kills, "result": waited.structuredContent}


driver.run(main)
