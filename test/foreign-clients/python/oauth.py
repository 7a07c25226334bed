"""Shared by the drivers of OAuth: a person who logs in, a store of tokens, and the course that each client takes."""

import asyncio
import json
import re
import sys
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from importlib.metadata import version

GIVEN = json.loads(sys.argv[1])
URL = GIVEN["url"]


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Person:
    """Logs in at the authorization server's pages and agrees, as with a browser."""

    def __init__(self, name):
        self.name = name
        self.log_ins = 0
        self.scopes = []

    def log_in(self, url):
        """Returns the address of the client to which the browser is sent."""
        self.log_ins += 1
        self.scopes.append(urllib.parse.parse_qs(urllib.parse.urlsplit(url).query).get("scope", [""])[0])
        opener = urllib.request.build_opener(NoRedirects, urllib.request.HTTPCookieProcessor(CookieJar()))
        origin, form = url.split("/auth")[0], None
        for _ in range(20):
            try:
                response = opener.open(url, form)
            except urllib.error.HTTPError as redirect:
                if not 300 <= redirect.code < 400:
                    raise
                response = redirect
            form = None
            location = response.headers.get("location")
            if location:
                url = urllib.parse.urljoin(url, location)
                if not url.startswith(origin + "/"):
                    return url
                continue
            page = response.read().decode()
            url = urllib.parse.urljoin(url, re.search(r'<form[^>]*action="([^"]+)"', page)[1])
            prompt = re.search(r'name="prompt" value="([^"]+)"', page)[1]
            fields = {"prompt": prompt, **({"login": self.name, "password": "x"} if prompt == "login" else {})}
            form = urllib.parse.urlencode(fields).encode()
        raise RuntimeError("the log-in did not end")


class Store:
    """Tokens and registration of a client, for the official SDK."""

    def __init__(self):
        self.tokens = None
        self.client_info = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client_info

    async def set_client_info(self, client_info):
        self.client_info = client_info


class Redirects:
    """Handlers of the official SDK: the log-in happens as the browser would be opened."""

    def __init__(self, person, result):
        self.person = person
        self.result = result
        self.parameters = {}

    async def open(self, url):
        callback = await asyncio.to_thread(self.person.log_in, url)
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(callback).query)
        self.parameters = {name: values[0] for name, values in query.items()}

    async def callback(self):
        if "code" not in self.parameters:
            raise RuntimeError(f"expected a code; got {self.parameters}")
        return self.result(self.parameters)


async def course(new_store, connect):
    """Log-in, refresh, step-up, and another person.

    `new_store()` makes a store; `connect(store, person)` is an async context manager that gives `call(tool, arguments)`.
    """
    alice, store = Person("alice"), new_store()
    async with connect(store, alice) as call:
        started = str(await call("slow_compute", {"seconds": 0}))
        first = await store.get_tokens()
        own = str(await call("operation_list", {}))
        # The client refreshes a token that has expired.
        await asyncio.sleep(GIVEN["lifetimeSeconds"] + 1)
        await call("operation_list", {})
        second = await store.get_tokens()
    logged_in = alice.log_ins
    await store.set_tokens(type(first).model_validate(GIVEN["lesser"]))
    async with connect(store, alice) as call:
        await call("operation_list", {})
        third = await store.get_tokens()
    async with connect(new_store(), Person("bob")) as call:
        others = str(await call("operation_list", {}))
    return {
        "started": started,
        "own": own,
        "others": others,
        "tokens": [token.access_token for token in (first, second, third)],
        "logIns": [logged_in, alice.log_ins],
        "scopes": alice.scopes,
    }


def run(main):
    """Prints what `main` returns, with the package's version, as one line of JSON."""
    versions = {name: version(name) for name in GIVEN["packages"]}
    print(json.dumps({"versions": versions, **asyncio.run(main())}))
