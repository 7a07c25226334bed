/** tools/list on every protocol and revision. */
import { LegacyClient, VERSIONS } from '../revision-2025-11-25/wire.js';
import { TASKS, TASKS_AND_FORMS, type WireClient } from '../support/mcp.js';

const CAPABILITIES: [string, object][] = [
  ['plain', {}],
  ['tasks', TASKS],
  ['tasks and elicitation', TASKS_AND_FORMS],
  ['SEP-1391', { experimental: { asyncTools: {} } }],
  ['two-stage', { experimental: { twoStage: {} } }],
];

export interface Listing {
  /** Revision and protocol. */
  name: string;
  tools: any[];
  /** Problems of tools that are not listed, from its `_meta`. */
  problems: string[];
}

/** The number of listings that a server has. */
export const LISTINGS = CAPABILITIES.length * (VERSIONS.length + 1);

export async function listings({ client }: { client: WireClient }): Promise<Listing[]> {
  const found: Listing[] = [];
  const add = (name: string, { result, error }: { result?: any; error?: object }) => {
    if (!result) throw new Error(`${name}: ${JSON.stringify(error)}`);
    found.push({ name, tools: result.tools, problems: result._meta?.['longhaul/problems'] ?? [] });
  };
  for (const [protocol, capabilities] of CAPABILITIES) {
    add(`2026-07-28 ${protocol}`, await client.with(capabilities).request('tools/list'));
    for (const version of VERSIONS) {
      const older = await LegacyClient.open(client.url, version, capabilities);
      add(`${version} ${protocol}`, await older.request('tools/list'));
    }
  }
  return found;
}
