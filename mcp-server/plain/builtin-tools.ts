/** Longhaul's own tools, by name: the operation_* tools and, if enabled, the mailbox's. */
import type { Engine } from '../../engine/index.js';
import { mailboxTools } from '../../mailbox/tools/index.js';
import { operationTools } from './operation-tools/index.js';
import type { BuiltinTool } from './builtin-tool.js';

const WITH_MAILBOX: ReadonlyMap<string, BuiltinTool> = new Map([...operationTools, ...mailboxTools]);

export function builtinTools({ tools }: Pick<Engine, 'tools'>): ReadonlyMap<string, BuiltinTool> {
  return tools.hasMailbox ? WITH_MAILBOX : operationTools;
}
