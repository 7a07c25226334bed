"""OAuthClientProvider of the official Python SDK, 1.x."""

from contextlib import asynccontextmanager

import httpx
import oauth
from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

METADATA = {"client_name": "a client", "redirect_uris": ["http://localhost:9999/callback"]}


@asynccontextmanager
async def connect(store, person):
    redirects = oauth.Redirects(person, lambda given: (given["code"], given.get("state")))
    provider = OAuthClientProvider(
        oauth.URL, OAuthClientMetadata(**METADATA), store, redirects.open, redirects.callback
    )
    async with (
        httpx.AsyncClient(auth=provider, timeout=60) as http,
        streamable_http_client(oauth.URL, http_client=http) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()

        async def call(tool, arguments):
            return (await session.call_tool(tool, arguments)).structuredContent

        yield call


oauth.run(lambda: oauth.course(oauth.Store, connect))
