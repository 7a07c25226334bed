"""Runs the worker for reviews until it is interrupted."""

import asyncio
import logging
import os
import signal

from temporalio.client import Client
from temporalio.envconfig import ClientConfig
from temporalio.worker import Worker

from activities import analyze, decision_seconds
from workflow import ReviewDocument


async def main() -> None:
    logging.basicConfig(level=logging.INFO)
    interrupted = asyncio.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, interrupted.set)

    config = ClientConfig.load_client_connect_config()
    client = await Client.connect(**{"target_host": "localhost:7233", **config})
    async with Worker(
        client,
        task_queue=os.environ.get("TASK_QUEUE", "reviews"),
        workflows=[ReviewDocument],
        activities=[analyze, decision_seconds],
    ):
        logging.info("Worker started")
        await interrupted.wait()


if __name__ == "__main__":
    asyncio.run(main())
