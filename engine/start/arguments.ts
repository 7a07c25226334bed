/** Arguments of a call: validation, defaults, and the size of the requested work. */
import { setTimeout as delay } from 'node:timers/promises';
import { LonghaulError } from '../../operations/errors.js';
import { check, withDefaults } from '../../operations/tool/schema.js';
import type { Tool } from '../../operations/tool/index.js';
import { sizeInArguments, type CallEstimate } from '../../operations/tool/estimate.js';
import { fileBytes, type DataFolders } from '../../platform/storage/data-folders.js';

/** Maximum size of a call's arguments, and of an answer: 1 MiB of JSON. */
const ARGUMENTS_LIMIT_BYTES = 1024 * 1024;
/** Maximum time that a start waits for a file's size, in milliseconds. */
const SIZE_LIMIT_MS = 100;

/** Validates arguments, adds defaults. @throws LonghaulError `invalid_arguments` with a line for each problem, `too_large` */
export function checkArguments(tool: Tool, args: unknown): Record<string, unknown> {
  assertSize('arguments', args ?? {});
  const filled = withDefaults(tool.inputSchema, args ?? {});
  const problems = check(tool.inputSchema, filled, 'arguments');
  if (problems.length) throw new LonghaulError('invalid_arguments', problems.join('\n'));
  return filled as Record<string, unknown>;
}

/** @throws LonghaulError `too_large` for a value of more than 1 MiB of JSON */
export function assertSize(what: 'arguments' | 'answer', value: unknown): void {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= ARGUMENTS_LIMIT_BYTES) return;
  throw new LonghaulError(
    'too_large',
    `${what}: expected at most ${ARGUMENTS_LIMIT_BYTES} bytes; got ${bytes}. Pass large data by reference.`,
  );
}

/** The size of the work, if known. Reading a file's size from disk may take 100 ms at most. */
export async function sizeOfCall(
  estimate: CallEstimate,
  args: Record<string, unknown>,
  dataFolders: DataFolders,
): Promise<number | undefined> {
  const { per } = estimate;
  const path = per?.of === 'file_bytes' ? args[per.argument] : undefined;
  if (typeof path !== 'string') return sizeInArguments(estimate, args);
  const late = delay(SIZE_LIMIT_MS, undefined, { ref: false });
  return Promise.race([fileBytes(path, dataFolders, AbortSignal.timeout(SIZE_LIMIT_MS)), late]);
}
