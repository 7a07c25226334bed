/** What is known of clients beyond what they declare, by the name that they give themselves (docs/clients.md, "The clients"). */

interface KnownClient {
  /** How `clientInfo.name` begins, in lower case. */
  prefix: string;
  /** For how long it lets a call run, in seconds; the usual value where it can be set. Default: {@link DEFAULT_CALL_SECONDS}. */
  callSeconds?: number;
  /** Does it take `resource_link` blocks in results, whatever the model behind it? Default: false. */
  resourceLinks?: true;
}

const KNOWN_CLIENTS: readonly KnownClient[] = [
  // Rewrites links to text for the model, from 1.0.44 on.
  { prefix: 'claude-code', callSeconds: 120, resourceLinks: true },
  // Claude Desktop as well as claude.ai, whose limit is the lower one.
  { prefix: 'claude-ai', callSeconds: 60 },
  // Attaches links as resources of the server.
  { prefix: 'visual studio code', callSeconds: 300, resourceLinks: true },
  { prefix: 'goose', callSeconds: 300 },
  // MCP Inspector, page (`inspector-client`) and command line (`inspector-cli`): no model behind it.
  { prefix: 'inspector-cli', resourceLinks: true },
  { prefix: 'longhaul-cli', callSeconds: 3600 },
];

/** Default for unknown clients, in seconds: the official TypeScript client gives a call up after 60 s. */
const DEFAULT_CALL_SECONDS = 60;
/** Subtracted from a limit for the way there and back, in seconds. */
const MARGIN_SECONDS = 5;

/** The longest wait whose answer surely reaches such a client, in seconds. */
export function longestWaitSeconds(clientName: string | undefined): number {
  return (knownClient(clientName)?.callSeconds ?? DEFAULT_CALL_SECONDS) - MARGIN_SECONDS;
}

/** Is the client known to take `resource_link` blocks? */
export function supportsResourceLinks(clientName: string | undefined): boolean {
  return knownClient(clientName)?.resourceLinks ?? false;
}

function knownClient(clientName = ''): KnownClient | undefined {
  const name = clientName.toLowerCase();
  return KNOWN_CLIENTS.find(({ prefix }) => name.startsWith(prefix));
}
