"""OAuthClientProvider of the official Python SDK, 2.x."""

from contextlib import asynccontextmanager

import httpx2
import oauth
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

METADATA = {"client_name": "a client", "redirect_uris": ["http://localhost:9999/callback"]}


@asynccontextmanager
async def connect(store, person):
    redirects = oauth.Redirects(
        person,
        lambda given: AuthorizationCodeResult(
            code=given["code"], state=given.get("state"), iss=given.get("iss")
        ),
    )
    provider = OAuthClientProvider(
        oauth.URL, OAuthClientMetadata(**METADATA), store, redirects.open, redirects.callback
    )
    async with (
        httpx2.AsyncClient(auth=provider, timeout=60) as http,
        Client(streamable_http_client(oauth.URL, http_client=http)) as client,
    ):

        async def call(tool, arguments):
            return (await client.call_tool(tool, arguments)).structured_content

        yield call


oauth.run(lambda: oauth.course(oauth.Store, connect))
