/** Helpers to call plain tools as a client of 2026-07-28. */
import type { WireClient } from '../support/mcp.js';
import { eventually } from '../stack/cli-process.js';

export const FORMS = { elicitation: {} };

/** Returns the result of a call; fails on a JSON-RPC error. */
export async function call(
  client: WireClient,
  name: string,
  args: object = {},
  more: object = {},
): Promise<any> {
  const { result, error } = await client.request('tools/call', { name, arguments: args, ...more });
  if (error) throw new Error(`${name}: ${JSON.stringify(error)}`);
  return result;
}

/** Starts the work without waiting and returns the envelope. */
export async function start(client: WireClient, name: string, args: object = {}): Promise<any> {
  return (await call(client, name, { ...args, wait: false })).structuredContent;
}

/** Reads all fields until the status is as expected. */
export async function follow(client: WireClient, token: string, wanted: string): Promise<any> {
  return eventually(`it is ${wanted}`, async () => {
    const { structuredContent } = await call(client, 'operation_get', { token, view: 'full' });
    return structuredContent.status === wanted ? structuredContent : undefined;
  });
}

/** The text of a result. */
export function textOf(result: any): string {
  return result.content.map((block: any) => block.text ?? '').join('\n');
}

/** Values at a status_path: `status`, or `children[*].status`. */
export function statusesAt(envelope: any, path: string): string[] {
  const [list, field] = path.split('[*].');
  return field === undefined ? [envelope[list!]] : envelope[list!].map((one: any) => one[field]);
}
