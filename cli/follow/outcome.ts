/** Prints a closed task's outcome, and maps it to an exit code. */
import { printData, say } from '../console.js';
import { EXIT } from '../client/exit-codes.js';
import { exitCodeOfKind } from '../client/failures.js';
import { jsonText } from '../terminal/terminal-text.js';
import { statusNote, temporalUrlOf, type ContentBlock, type Task, type ToolResult } from '../client/wire.js';

/** Names of statuses are also error kinds. */
export function exitCodeOf({ status }: Task): number {
  return status === 'completed' ? EXIT.ok : exitCodeOfKind(status);
}

/** Prints a result on standard output, any other outcome on standard error. */
export function printOutcome(task: Task): void {
  if (task.result) printResult(task.result);
  else if (task.status === 'canceled') say(canceledText(task));
  else if (task.status !== 'completed') {
    say(`${task.status}: ${task.error?.message ?? task.statusMessage ?? 'no reason given'}`);
    const url = temporalUrlOf(task);
    if (url !== undefined) say(`Temporal's UI: ${url}`);
  }
}

function canceledText(task: Task): string {
  const note = statusNote(task);
  return note?.startsWith('canceled') ? note : ['canceled', note].filter(Boolean).join(': ');
}

export function printResult(result: ToolResult): void {
  const lines = (result.content ?? []).map(textOfBlock);
  if (lines.length === 0 && result.structuredContent !== undefined)
    lines.push(jsonText(result.structuredContent, 2));
  if (lines.length === 0) return;
  (result.isError ? say : printData)(lines.join('\n'));
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
