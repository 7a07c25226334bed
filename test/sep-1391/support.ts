/** Connections in both revisions. */
import { connectSession, connectStateless, type Wire } from './client.js';

export const REVISIONS: [string, (url: string, capabilities?: object) => Promise<Wire>][] = [
  ['2025-11-25', (url, capabilities) => connectSession(url, capabilities, '2025-11-25')],
  ['2026-07-28', async (url, capabilities) => connectStateless(url, capabilities)],
];

/** The listed tools by name. */
export async function toolsOf(wire: Wire): Promise<Record<string, any>> {
  const { result } = await wire.request('tools/list');
  return Object.fromEntries(result.tools.map((tool: any) => [tool.name, tool]));
}
