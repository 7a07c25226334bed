/** `longhaul tools TOOL`: a tool's full documentation, from the server's jobs API. */
import { CommandFailure } from '../failure.js';
import { EXIT } from '../client/exit-codes.js';
import { usageFailure } from '../client/failures.js';
import { Unreachable } from '../client/connection.js';
import { credentialHeaders, refusedCredential } from '../client/credential.js';

/** @param mcpUrl the MCP endpoint @param type `text/markdown` or `application/json` @throws CommandFailure, Unreachable */
export function fetchToolDocs(mcpUrl: URL, tool: string, type: string): Promise<string> {
  return fetchJobsApi(mcpUrl, `v1/tools/${encodeURIComponent(tool)}`, type);
}

/** Reads a path of the HTTP jobs API, which is beside the MCP endpoint. @throws CommandFailure, Unreachable */
export async function fetchJobsApi(mcpUrl: URL, path: string, type: string): Promise<string> {
  const address = new URL(path, mcpUrl);
  let response: Response;
  try {
    response = await fetch(address, { headers: { accept: type, ...credentialHeaders() } });
  } catch (error) {
    const { message, cause } = error as Error;
    throw new Unreachable((cause as Error | undefined)?.message ?? message);
  }
  const text = await response.text();
  const given = response.headers.get('content-type')?.split(';')[0];
  if (response.ok && given === type) return text;
  if (given !== 'application/problem+json')
    throw new CommandFailure(`${address.href}: expected a tool's documentation; this server has none`);
  const { detail } = JSON.parse(text) as { detail: string };
  const refused = refusedCredential(response.status, detail);
  if (refused) throw refused;
  if (response.status === 404) throw usageFailure(detail);
  throw new CommandFailure(detail, response.status === 503 ? EXIT.unreachable : EXIT.failed);
}
