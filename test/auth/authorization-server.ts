/** An authorization server of oidc-provider, and a person who logs in at its pages. */
import { createServer, type Server } from 'node:http';
import Provider from 'oidc-provider';

/** Secret of the client `longhaul`, with characters that HTTP Basic needs encoded. */
export const RESOURCE_SERVER_SECRET = 'secret of longhaul: 50% + more';

export interface AuthorizationServer {
  issuer: string;
  close(): Promise<void>;
}

/**
 * Starts it on a port of loopback.
 *
 * @param resource whose access tokens it issues, with the scopes that the client asked for
 * @param format of the access tokens. Default: JWTs
 * @param lifetimeSeconds of the access tokens of people; those of the program `nightly` live for 60. Default: 60
 */
export async function startAuthorizationServer(
  port: number,
  resource: string,
  { format = 'jwt', lifetimeSeconds = 60 }: { format?: 'jwt' | 'opaque'; lifetimeSeconds?: number } = {},
): Promise<AuthorizationServer> {
  const issuer = `http://127.0.0.1:${port}`;
  const resourceServer = {
    scope: 'longhaul profile',
    audience: resource,
    accessTokenFormat: format,
    accessTokenTTL: lifetimeSeconds,
  };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'nightly',
        client_secret: 'nightly-secret-of-the-test',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
      // The resource server, which asks about tokens.
      {
        client_id: 'longhaul',
        client_secret: RESOURCE_SERVER_SECRET,
        grant_types: [],
        redirect_uris: [],
        response_types: [],
      },
    ],
    cookies: { keys: ['of the test'] },
    scopes: ['openid', 'offline_access', 'longhaul', 'profile'],
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: () => Promise.resolve(true),
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      clientCredentials: { enabled: true },
      introspection: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx, _resource, client) =>
          client.clientId === 'nightly' ? { ...resourceServer, accessTokenTTL: 60 } : resourceServer,
        useGrantedResource: () => true,
      },
    },
  });
  const answer = provider.callback();
  const server: Server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  return {
    issuer,
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** A token of the client `nightly` for itself, by its credentials. */
export async function askForToken(
  { issuer }: AuthorizationServer,
  { scope, resource }: { scope?: string; resource: string },
): Promise<{ access_token: string; token_type: string; expires_in: number }> {
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: 'nightly',
      client_secret: 'nightly-secret-of-the-test',
      ...(scope === undefined ? {} : { scope }),
      resource,
    }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as { access_token: string; token_type: string; expires_in: number };
}

/**
 * Logs in and agrees, as a person does in a browser.
 *
 * @param url of the authorization request
 * @returns the address of the client to which the browser is sent, with the code
 */
export async function logIn(url: URL, name: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let next = url;
  let body: URLSearchParams | undefined;
  for (let steps = 0; steps < 20; steps += 1) {
    const response = await fetch(next, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map((cookie) => cookie.join('=')).join('; ') },
      ...(body ? { method: 'POST', body } : {}),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, key, value] = /^([^=]+)=([^;]*)/.exec(cookie)!;
      cookies.set(key!, value!);
    }
    const location = response.headers.get('location');
    if (location) {
      [next, body] = [new URL(location, next), undefined];
      if (next.origin !== url.origin) return next;
      continue;
    }
    const page = await response.text();
    const [, action] = /<form[^>]*action="([^"]+)"/.exec(page) ?? [];
    const [, prompt] = /name="prompt" value="([^"]+)"/.exec(page) ?? [];
    if (!action || !prompt)
      throw new Error(`${next.href}: expected a form; got ${response.status} ${page.slice(0, 500)}`);
    next = new URL(action, next);
    body = new URLSearchParams({ prompt, ...(prompt === 'login' ? { login: name, password: 'x' } : {}) });
  }
  throw new Error('the log-in did not end');
}
