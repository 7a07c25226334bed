/**
 * Serves Temporal's UI to the user's browser. The UI has no login and checks neither Host nor Origin, so a web page that rebinds
 * its name to loopback could use it. This proxy checks both, and hides the UI's own address from pages.
 */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { proxy } from 'hono/proxy';
import type { Settings } from '../../platform/settings/index.js';
import { behindProxies, clientOf } from '../../platform/http/client-address.js';
import { Origins } from '../../platform/http/origins.js';
import { formatAddress, type ListenAddress } from '../../platform/settings/health-address.js';

/** @returns a function that closes the proxy and its connections @throws Error with the code EADDRINUSE */
export async function serveUi(
  { allowedHosts, trustedProxies }: Pick<Settings, 'allowedHosts' | 'trustedProxies'>,
  address: ListenAddress,
  ui: ListenAddress,
): Promise<() => Promise<void>> {
  const origins = new Origins({ ...address, allowedHosts });
  const app = new Hono();
  app.use(behindProxies(trustedProxies));
  app.use(async (c, next) => {
    const problem = origins.problemOf({ ...clientOf(c), origin: c.req.header('origin') });
    if (problem === undefined) await next();
    else c.res = c.text(problem, 403);
  });
  app.all('*', (c) => {
    const { pathname, search } = new URL(c.req.url);
    return proxy(`http://${formatAddress(ui)}${pathname}${search}`, { raw: c.req.raw, redirect: 'manual' });
  });
  app.onError((_error, c) => c.text("Temporal's UI does not answer", 502));
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
  server.listen(address.port, address.host);
  await once(server, 'listening');
  return async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
}
