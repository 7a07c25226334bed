/**
 * The output that a tool declared when its operation started counts, whatever it declares later. Readers check completed results where the
 * runtime hasn't decided before the run closed: external workflows, workers in other languages, scheduled starts, large results. Temporal's
 * UI shows such a run as completed.
 */
import { createHash } from 'node:crypto';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { finalError, LonghaulError, undefinedIf } from '../../operations/errors.js';
import { canonicalJson } from '../../operations/json/canonical-json.js';
import { artifactUri, type OperationRecord } from '../../operations/record.js';
import { KEPT_RESULT, outputProblem } from '../../operations/tool/output.js';
import type { JsonSchema } from '../../operations/tool/schema.js';
import { OUTPUT_HEADER, type DeclaredOutput, type StartMemo } from '../../operations/wire/index.js';
import { artifactKey } from '../../platform/storage/keys.js';
import { firstRunIdOf } from '../external/adopt.js';
import type { TemporalClient } from '../temporal/client.js';
import { withHeader } from '../temporal/trace-calls.js';
import { decodeReadable, startOfRun } from './history.js';

/** Larger schemas aren't sent along, since each start's history would keep a copy. */
const SENT_CHARACTERS = 64 * 1024;

/** For the start memo, which lists carry: a digest in place of the schema. */
export function declaredOutput(schema: JsonSchema | undefined): DeclaredOutput {
  if (!schema) return {};
  return { digest: createHash('sha256').update(canonicalJson(schema)).digest('base64url').slice(0, 32) };
}

/** Sends the schema with a start, for the runtime and for later readers. */
export function withDeclaredOutput<T>(schema: JsonSchema | undefined, start: () => Promise<T>): Promise<T> {
  const isSent = schema && JSON.stringify(schema).length <= SENT_CHARACTERS;
  return isSent ? withHeader(OUTPUT_HEADER, schema, start) : start();
}

/**
 * Fails a completed record whose result breaks the output declared at its start. If that schema can't be had any more, the result is
 * delivered, with a note if it breaks the current one.
 *
 * @param current output that the tool declares now
 */
export async function withCheckedOutput(
  temporal: TemporalClient,
  record: OperationRecord,
  {
    description,
    memo,
    current,
  }: { description: WorkflowExecutionDescription; memo: StartMemo; current: JsonSchema | undefined },
): Promise<OperationRecord> {
  const isUndeclared = memo.output !== undefined && memo.output.digest === undefined;
  if (record.status !== 'completed' || record.resultProblem || isUndeclared) return record;
  const digest = memo.output?.digest;
  const isCurrent = digest !== undefined && digest === declaredOutput(current).digest;
  const fixed = isCurrent ? current : digest && (await schemaOfStart(temporal, description, memo));
  const schema = fixed || current;
  const problem = schema && outputProblem(schema, record.result);
  if (problem === undefined) return record;
  return fixed ? failed(temporal, record, description.workflowId, problem) : withNote(record, problem);
}

/** Undefined if the start has none, or its history is gone. External workflows don't pass headers on to their next run. */
async function schemaOfStart(
  temporal: TemporalClient,
  description: WorkflowExecutionDescription,
  { runtime }: StartMemo,
): Promise<JsonSchema | undefined> {
  const runId = runtime === 'none' ? firstRunIdOf(description) : description.runId;
  const run = { workflowId: description.workflowId, runId };
  const start = await startOfRun(temporal, run).catch(undefinedIf('not_found'));
  const payload = start?.header?.fields?.[OUTPUT_HEADER];
  const [schema] = await decodeReadable(temporal, payload && [payload]);
  return schema as JsonSchema | undefined;
}

async function failed(
  temporal: TemporalClient,
  { result, ...record }: OperationRecord,
  workflowId: string,
  problem: string,
): Promise<OperationRecord> {
  return {
    ...record,
    status: 'failed',
    error: { ...finalError('invalid_output', problem), type: 'invalid_output' },
    statusMessage: problem.split('\n', 1)[0]!,
    partial: await kept(temporal, record.token, workflowId, result),
  };
}

/** The result as an artifact, as the runtime keeps it; itself while storage is away. */
async function kept(
  { storage }: TemporalClient,
  token: string,
  workflowId: string,
  result: unknown,
): Promise<unknown> {
  const bytes = Buffer.from(JSON.stringify(result) ?? 'null');
  const key = artifactKey(workflowId, KEPT_RESULT);
  try {
    if (!(await storage.about(key))) await storage.put(key, bytes);
    return { result: { name: KEPT_RESULT, uri: artifactUri(token, KEPT_RESULT), bytes: bytes.length } };
  } catch (error) {
    if (error instanceof LonghaulError) return result;
    throw error;
  }
}

function withNote(record: OperationRecord, problem: string): OperationRecord {
  const note = `the result doesn't fit the output that the tool declares now: ${problem.split('\n', 1)[0]}`;
  return { ...record, resultNote: note, statusMessage: `${record.statusMessage}; ${note}` };
}
