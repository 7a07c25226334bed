/** OAuth clients of Python: they discover the authorization server, register, log in, refresh and ask for a scope. */
import { expect, jest, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { askForToken } from '../auth/authorization-server.js';
import { startOAuthStack } from '../auth/oauth-stack.js';
import { afterAllTests, forAllTests } from '../support/for-all-tests.js';
import { INSTALL_MS } from '../support/limits.js';
import { install, pinnedVersion, type Environment } from './environments.js';
import { selectClients } from './passed.js';

jest.setTimeout(INSTALL_MS);

/** Lifetime of access tokens. The server accepts them for 5 seconds more, since clocks differ. */
const LIFETIME_SECONDS = 3;

interface Report {
  versions: Record<string, string>;
  started: string;
  own: string;
  others: string;
  /** Access tokens: of the first log-in, after its expiry, and after one without the scope. */
  tokens: [string, string, string];
  /** How often the person had logged in: before the token without the scope, and after it. */
  logIns: [number, number];
  /** Scopes of the authorization requests. */
  scopes: string[];
}

const CLIENTS: { name: string; package: string; environment: Environment; driver: string; isSmoke?: true }[] =
  [
    { name: 'FastMCP', package: 'fastmcp', environment: 'mcp-2', driver: 'oauth_fastmcp.py', isSmoke: true },
    { name: 'Python SDK 1.x', package: 'mcp', environment: 'mcp-1', driver: 'oauth_python_sdk_1.py' },
    { name: 'Python SDK 2.x', package: 'mcp', environment: 'mcp-2', driver: 'oauth_python_sdk_2.py' },
  ];

const { isWhole, recordPass } = selectClients('foreign-oauth-passed');
const passed = new Set<string>();

const oauth = await forAllTests(startOAuthStack({ lifetimeSeconds: LIFETIME_SECONDS }));
const { server, resource } = oauth;
afterAllTests(async () => {
  if (passed.size === CLIENTS.length) recordPass();
});

for (const client of CLIENTS)
  (isWhole || client.isSmoke ? test : test.skip)(
    `${client.name} discovers, registers, logs in, refreshes and steps up`,
    async () => {
      const start = await install(client.environment);
      // Without any scope: clients ask for those of their token too, and these have registered for others.
      const lesser = await askForToken(server, { resource });
      const given = {
        url: resource,
        packages: [client.package],
        lifetimeSeconds: LIFETIME_SECONDS,
        // It would be refreshed, were its end known.
        lesser: { ...lesser, expires_in: 3600 },
      };
      const printed = await start(client.driver, JSON.stringify(given));
      const report = JSON.parse(printed.trim().split('\n').at(-1)!) as Report;
      expect(report.versions[client.package]).toBe(pinnedVersion(client.environment, client.package));
      const [first, refreshed, stepped] = report.tokens.map((token) => decodeJwt(token));
      for (const claims of [first, refreshed, stepped])
        expect(claims).toMatchObject({
          sub: 'alice',
          aud: resource,
          scope: expect.stringContaining('longhaul'),
        });
      expect(new Set(report.tokens).size).toBe(3);
      expect(report.logIns).toEqual([1, 2]);
      for (const scope of report.scopes) expect(scope).toContain('longhaul');
      const [token] = /\b[0-9a-f]{32}\b/.exec(report.started)!;
      expect(report.own).toContain(token);
      expect(report.others).not.toContain(token);
      passed.add(client.name);
    },
  );
