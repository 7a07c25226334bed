/** Limits and features that clients don't declare, by `clientInfo.name` (docs/clients.md, "The clients"). */

interface KnownClient {
  /** Lower-case prefix of `clientInfo.name`. */
  prefix: string;
  /** Time limit for calls, in seconds; the usual value if users can set it. Default: {@link DEFAULT_CALL_SECONDS}. */
  callSeconds?: number;
  /** Whether it supports `resource_link` blocks in results, with any model. Default: false. */
  resourceLinks?: true;
}

const KNOWN_CLIENTS: readonly KnownClient[] = [
  // Rewrites links to text for the model, from 1.0.44 on.
  { prefix: 'claude-code', callSeconds: 120, resourceLinks: true },
  // Claude Desktop and claude.ai, with claude.ai's lower limit.
  { prefix: 'claude-ai', callSeconds: 60 },
  // Attaches links as resources of the server.
  { prefix: 'visual studio code', callSeconds: 300, resourceLinks: true },
  { prefix: 'goose', callSeconds: 300 },
  // MCP Inspector, page (`inspector-client`) and command line (`inspector-cli`): no model behind it.
  { prefix: 'inspector-cli', resourceLinks: true },
  { prefix: 'longhaul-cli', callSeconds: 3600 },
];

/** Default for unknown clients, in seconds: the official TypeScript client ends a call after 60 s. */
const DEFAULT_CALL_SECONDS = 60;
/** Time for the round trip, subtracted from a limit, in seconds. */
const MARGIN_SECONDS = 5;

/** The longest wait with an answer within the client's limit, in seconds. */
export function longestWaitSeconds(clientName: string | undefined): number {
  return (knownClient(clientName)?.callSeconds ?? DEFAULT_CALL_SECONDS) - MARGIN_SECONDS;
}

export function supportsResourceLinks(clientName: string | undefined): boolean {
  return knownClient(clientName)?.resourceLinks ?? false;
}

function knownClient(clientName = ''): KnownClient | undefined {
  const name = clientName.toLowerCase();
  return KNOWN_CLIENTS.find(({ prefix }) => name.startsWith(prefix));
}
