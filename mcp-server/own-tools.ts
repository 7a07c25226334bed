/** Longhaul's own tools, by name: those about operations and, where it is switched on, the mailbox's. */
import type { Engine } from '../engine/index.js';
import { mailboxTools } from './mailbox-tools/index.js';
import { operationTools } from './operation-tools/index.js';
import type { OwnTool } from './own-tool.js';

const WITH_MAILBOX: ReadonlyMap<string, OwnTool> = new Map([...operationTools, ...mailboxTools]);

export function ownTools({ tools }: Pick<Engine, 'tools'>): ReadonlyMap<string, OwnTool> {
  return tools.hasMailbox ? WITH_MAILBOX : operationTools;
}
