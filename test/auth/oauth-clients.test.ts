/** MCP's official clients find the authorization server by themselves, log in, refresh and step up. */
import { expect, test } from '@jest/globals';
import {
  Client,
  ClientCredentialsProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { decodeJwt } from 'jose';
import { forAllTests } from '../support/for-all-tests.js';
import { forged } from '../support/forged.js';
import { askForToken, logIn } from './authorization-server.js';
import { startOAuthStack } from './oauth-stack.js';

const REDIRECT = 'http://localhost:9999/callback';

const oauth = await forAllTests(startOAuthStack());
const { server, resource } = oauth;

/** A client's memory, and the address at which its person has to log in. */
class Memory implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT;
  authorizationUrl: URL | undefined;
  saved: Record<string, any> = {};
  get clientMetadata() {
    return {
      client_name: 'a client',
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }
  clientInformation = () => this.saved['client'];
  saveClientInformation = (client: any) => void (this.saved['client'] = client);
  tokens = () => this.saved['tokens'];
  saveTokens = (tokens: any) => void (this.saved['tokens'] = tokens);
  redirectToAuthorization = (url: URL) => void (this.authorizationUrl = url);
  saveCodeVerifier = (verifier: string) => void (this.saved['verifier'] = verifier);
  codeVerifier = () => this.saved['verifier'];
  saveDiscoveryState = (state: any) => void (this.saved['discovery'] = state);
  discoveryState = () => this.saved['discovery'];
}

const connect = async (authProvider: OAuthClientProvider) => {
  const transport = new StreamableHTTPClientTransport(new URL(resource), { authProvider });
  const client = new Client({ name: 'a client', version: '1' });
  await client.connect(transport);
  return client;
};

/** Connects, and logs in if the server wants that. */
async function connectAs(memory: Memory, name: string): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL(resource), { authProvider: memory });
  await expect(new Client({ name: 'a client', version: '1' }).connect(transport)).rejects.toThrow(
    UnauthorizedError,
  );
  const callback = await logIn(memory.authorizationUrl!, name);
  await transport.finishAuth(callback.searchParams);
  await transport.close();
  return connect(memory);
}

test('a client discovers, registers, logs in and calls; another person has other operations', async () => {
  const [alice, bob] = [new Memory(), new Memory()];
  const client = await connectAs(alice, 'alice');
  expect(alice.authorizationUrl!.searchParams.get('scope')).toContain('longhaul');
  expect(alice.authorizationUrl!.searchParams.get('resource')).toBe(resource);
  expect(decodeJwt(alice.saved['tokens'].access_token)).toMatchObject({ sub: 'alice', aud: resource });
  const start = { name: 'slow_compute', arguments: { seconds: 0 } };
  const { structuredContent } = await client.callTool(start);
  const listed = async (one: Client) =>
    JSON.stringify(await one.callTool({ name: 'operation_list', arguments: {} }));
  expect(structuredContent).toBeDefined();
  const other = await connectAs(bob, 'bob');
  expect(await listed(other)).not.toContain('slow_compute');
  await client.close();
  await other.close();
});

test('a client refreshes its token when it is refused', async () => {
  const memory = new Memory();
  const client = await connectAs(memory, 'carol');
  const before = memory.saved['tokens'];
  expect(before.refresh_token).toEqual(expect.any(String));
  memory.saved['tokens'] = { ...before, access_token: forged(before.access_token) };
  expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  expect(memory.saved['tokens'].access_token).not.toBe(before.access_token);
  await client.close();
});

test('a client whose token lacks the scope asks for it', async () => {
  const lesser = await askForToken(server, { scope: 'profile', resource });
  expect(decodeJwt(lesser.access_token)).toMatchObject({ scope: 'profile', aud: resource });
  const memory = new Memory();
  memory.saved['tokens'] = lesser;
  const client = await connectAs(memory, 'dave');
  expect(memory.authorizationUrl!.searchParams.get('scope')).toContain('longhaul');
  expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  await client.close();
});

test('a program without a person has credentials of its own', async () => {
  const provider = new ClientCredentialsProvider({
    clientId: 'nightly',
    clientSecret: 'nightly-secret-of-the-test',
    scope: 'longhaul',
    expectedIssuer: server.issuer,
  });
  const client = await connect(provider);
  expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  expect(decodeJwt(provider.tokens()!.access_token)).toMatchObject({ sub: 'nightly', scope: 'longhaul' });
  await client.close();
});

test('the SDK 1.x discovers, registers, logs in, refreshes and steps up', async () => {
  const memory = new Memory();
  const connectOnce = async () => {
    const transport = new Transport1(new URL(resource), { authProvider: memory });
    const client = new Client1({ name: 'a client', version: '1' });
    await client.connect(transport);
    return client;
  };
  const connectAndLogIn = async () => {
    memory.authorizationUrl = undefined;
    await expect(connectOnce()).rejects.toThrow('Unauthorized');
    const callback = await logIn(memory.authorizationUrl!, 'erin');
    const transport = new Transport1(new URL(resource), { authProvider: memory });
    await transport.finishAuth(callback.searchParams.get('code')!);
    return connectOnce();
  };
  const client = await connectAndLogIn();
  const granted = memory.saved['tokens'];
  expect(decodeJwt(granted.access_token)).toMatchObject({ sub: 'erin', aud: resource });
  memory.saved['tokens'] = { ...granted, access_token: forged(granted.access_token) };
  expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  expect(memory.saved['tokens'].access_token).not.toBe(granted.access_token);
  await client.close();

  memory.saved['tokens'] = await askForToken(server, { scope: 'profile', resource });
  const stepped = await connectAndLogIn();
  expect(memory.authorizationUrl!.searchParams.get('scope')).toContain('longhaul');
  expect((await stepped.listTools()).tools.length).toBeGreaterThan(0);
  await stepped.close();
});
