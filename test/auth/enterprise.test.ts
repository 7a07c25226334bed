/**
 * Enterprise-managed authorization (MCP extension io.modelcontextprotocol/enterprise-managed-authorization): an agent without a
 * browser gets in with what its company's identity provider asserts.
 */
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import {
  Client,
  CrossAppAccessProvider,
  discoverAndRequestJwtAuthGrant,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { PROCESSES_MS, STACK_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';
import { ASSISTANT_SECRET, type AuthorizationServer } from './authorization-server.js';
import { IdentityProvider } from './identity-provider.js';
import { startOAuthStack, type OAuthStack } from './oauth-stack.js';

jest.setTimeout(PROCESSES_MS);

let company: IdentityProvider;
let server: AuthorizationServer;
let oauth: OAuthStack;
let resource: string;
beforeAll(async () => {
  company = await IdentityProvider.start();
  oauth = await startOAuthStack({ trusts: company });
  ({ server, resource } = oauth);
}, STACK_MS);
afterAll(async () => {
  await oauth?.stop();
  await company?.close();
});

/** The agent of a person who has logged in at the company. */
function agentOf(subject: string): CrossAppAccessProvider {
  return new CrossAppAccessProvider({
    assertion: async ({ authorizationServerUrl, resourceUrl, scope, fetchFn }) => {
      const { jwtAuthGrant } = await discoverAndRequestJwtAuthGrant({
        idpUrl: company.url,
        audience: authorizationServerUrl,
        resource: resourceUrl,
        idToken: await company.idToken(subject),
        clientId: 'assistant',
        ...(scope === undefined ? {} : { scope }),
        fetchFn,
      });
      return jwtAuthGrant;
    },
    clientId: 'assistant-at-longhaul',
    clientSecret: ASSISTANT_SECRET,
    expectedIssuer: server.issuer,
  });
}

async function connect(authProvider: CrossAppAccessProvider): Promise<Client> {
  const client = new Client({ name: 'an agent', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(resource), { authProvider }));
  return client;
}

test('an agent gets in for the people whom the company allows, each with what is theirs', async () => {
  company.allowed.add('alice').add('bob');
  const provider = agentOf('alice');
  const client = await connect(provider);
  const { access_token: token } = provider.tokens()!;
  expect(decodeJwt(token)).toMatchObject({
    iss: server.issuer,
    sub: 'alice',
    aud: resource,
    scope: 'longhaul',
  });
  const [exchange] = company.exchanges;
  expect([exchange!.get('audience'), exchange!.get('resource'), exchange!.get('scope')]).toEqual([
    server.issuer,
    resource,
    'longhaul',
  ]);
  await client.callTool({ name: 'slow_compute', arguments: { seconds: 0 } });
  const list = { name: 'operation_list', arguments: {} };
  expect(JSON.stringify(await client.callTool(list))).toContain('slow_compute');
  const other = await connect(agentOf('bob'));
  expect(JSON.stringify(await other.callTool(list))).not.toContain('slow_compute');
  await Promise.all([client.close(), other.close()]);
});

test("the assertion itself is no credential: it is the authorization server's to judge", async () => {
  const assertion = await company.assertion({
    sub: 'alice',
    aud: resource,
    resource,
    scope: 'longhaul',
    client_id: 'assistant-at-longhaul',
  });
  expect(decodeProtectedHeader(assertion).typ).toBe('oauth-id-jag+jwt');
  const client = new WireClient(resource, undefined, undefined, assertion);
  expect((await client.request('tools/list')).httpStatus).toBe(401);
});
