/** How a task ended: in words, and as an exit code. */
import { print, say } from '../console.js';
import { EXIT } from './exit-codes.js';
import { errorKindOf, statusNote, type ContentBlock, type Task, type ToolResult } from './wire.js';
import { exitCodeOfKind } from './failures.js';

/** The exit code of a closed task. */
export function exitCodeOf(task: Task): number {
  if (task.status === 'cancelled') return EXIT.canceled;
  if (task.status === 'failed' || !task.result) return EXIT.failed;
  if (!task.result.isError) return EXIT.ok;
  const code = exitCodeOfKind(errorKindOf(task.result));
  // The work itself failed, whatever its error is called: nobody called the command wrongly.
  return code === EXIT.timedOut || code === EXIT.canceled ? code : EXIT.failed;
}

/** Prints what a closed task brought: a result on standard output, anything else on standard error. */
export function printOutcome(task: Task): void {
  if (task.status === 'cancelled') say(['canceled', statusNote(task)].filter(Boolean).join(': '));
  else if (task.status === 'failed')
    say(`failed: ${task.error?.message ?? task.statusMessage ?? 'no reason given'}`);
  else printResult(task.result ?? {});
}

/** Prints a tool's result. */
export function printResult(result: ToolResult): void {
  const lines = (result.content ?? []).map(textOfBlock);
  if (lines.length === 0 && result.structuredContent !== undefined)
    lines.push(JSON.stringify(result.structuredContent, null, 2));
  if (lines.length === 0) return;
  (result.isError ? say : print)(lines.join('\n'));
}

function textOfBlock(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text ?? '';
    case 'resource_link':
      return `${block.name ?? 'resource'}: ${block.uri ?? ''}${factsOf(block)}`;
    case 'resource':
      return block.resource?.text ?? block.resource?.uri ?? '';
    default:
      return `[${block.type}${block.mimeType ? ` ${block.mimeType}` : ''}; --json shows it]`;
  }
}

function factsOf({ mimeType, size }: ContentBlock): string {
  const facts = [mimeType, size === undefined ? undefined : `${size} bytes`].filter(Boolean);
  return facts.length ? ` (${facts.join(', ')})` : '';
}
