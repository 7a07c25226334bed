/** A stack whose callers log in at an authorization server of oidc-provider. */
import { freePort } from '../stack/cli-process.js';
import { TestStack } from '../support/test-stack.js';
import { startAuthorizationServer, type AuthorizationServer } from './authorization-server.js';

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
  const settings = {
    LONGHAUL_AUTHENTICATION: 'oauth',
    LONGHAUL_OAUTH_ISSUER: server.issuer,
    LONGHAUL_OAUTH_RESOURCE: resource,
    LONGHAUL_OAUTH_SCOPE: 'longhaul',
  };
  try {
    // Own server: its callers log in.
    const stack = await TestStack.serverOnSharedWorker(settings, port);
    const stop = async () => {
      await stack.stop();
      await server.close();
    };
    return { stack, server, resource, stop };
  } catch (error) {
    await server.close();
    throw error;
  }
}
