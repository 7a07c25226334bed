/** A stack whose callers log in at an authorization server of oidc-provider. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../stack/cli-process.js';
import { TestStack } from '../support/test-stack.js';
import { startAuthorizationServer, type AuthorizationServer } from './authorization-server.js';
import { acceptTokens } from './token-sources.js';

export interface OAuthStack {
  stack: TestStack;
  server: AuthorizationServer;
  /** URL of the server's MCP endpoint, the audience of access tokens. */
  resource: string;
  stop(): Promise<void>;
}

/** @param options of the authorization server */
export async function startOAuthStack(
  options?: Parameters<typeof startAuthorizationServer>[2],
): Promise<OAuthStack> {
  const port = await freePort();
  const resource = `http://127.0.0.1:${port}/mcp`;
  const server = await startAuthorizationServer(await freePort(), resource, options);
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-oauth-'));
  const close = async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  };
  try {
    const settings = acceptTokens(folder, { issuer: server.issuer, audience: resource, scope: 'longhaul' });
    // Own server: its callers log in.
    const stack = await TestStack.serverOnSharedWorker(settings, port);
    const stop = async () => {
      await stack.stop();
      await close();
    };
    return { stack, server, resource, stop };
  } catch (error) {
    await close();
    throw error;
  }
}
