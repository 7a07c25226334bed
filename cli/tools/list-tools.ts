import { PROBLEMS_META_KEY } from '../../operations/wire/meta-keys.js';
import type { ToolDeclaration } from '../client/wire.js';

export interface ToolList {
  tools: ToolDeclaration[];
  /** Problems of unusable tool files, a line each. */
  problems: string[];
}

interface ToolPage {
  tools: ToolDeclaration[];
  nextCursor?: string;
  _meta?: Record<string, unknown>;
}

/** Reads all pages of `tools/list`. */
export async function listTools(
  request: (params: Record<string, unknown>) => Promise<ToolPage>,
): Promise<ToolList> {
  const tools: ToolDeclaration[] = [];
  let problems: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await request(cursor === undefined ? {} : { cursor });
    tools.push(...page.tools);
    problems = (page._meta?.[PROBLEMS_META_KEY] as string[] | undefined) ?? problems;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return { tools, problems };
}
