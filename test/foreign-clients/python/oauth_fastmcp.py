"""FastMCP's OAuth, with its own server for the callback: the browser that it opens is a person of the test."""

import threading
import time
import urllib.error
import urllib.request
import webbrowser
from contextlib import asynccontextmanager

import oauth
from fastmcp import Client
from fastmcp.client.auth import OAuth
from fastmcp.client.auth.oauth import TokenStorageAdapter
from key_value.aio.stores.memory import MemoryStore

# Longest wait for the server of the callback, in seconds.
CALLBACK_LIMIT_SECONDS = 30


class Browser(webbrowser.BaseBrowser):
    person = None

    def open(self, url, new=0, autoraise=True):
        threading.Thread(target=self.visit, args=(url, Browser.person), daemon=True).start()
        return True

    def visit(self, url, person):
        callback = person.log_in(url)
        end = time.monotonic() + CALLBACK_LIMIT_SECONDS
        while True:
            try:
                return urllib.request.urlopen(callback).read()
            except urllib.error.URLError:
                # The server starts after the browser.
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)


webbrowser.register("person", None, Browser(), preferred=True)


class Store(TokenStorageAdapter):
    def __init__(self):
        self.memory = MemoryStore()
        super().__init__(self.memory, oauth.URL)


@asynccontextmanager
async def connect(store, person):
    Browser.person = person
    async with Client(oauth.URL, auth=OAuth(token_storage=store.memory)) as client:

        async def call(tool, arguments):
            return (await client.call_tool(tool, arguments)).structured_content

        yield call


oauth.run(lambda: oauth.course(Store, connect))
