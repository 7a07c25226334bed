/**
 * Completed results that break their tool's declared output, where the runtime hasn't decided before the run closed: external workflows,
 * workers in other languages, scheduled starts, large results. Temporal's UI shows such a run as completed.
 */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { finalError, LonghaulError } from '../../operations/errors.js';
import { artifactUri, type OperationRecord } from '../../operations/record.js';
import { KEPT_RESULT, outputProblem } from '../../operations/tool/output.js';
import type { JsonSchema } from '../../operations/tool/schema.js';
import { OUTPUT_HEADER, type StartMemo } from '../../operations/wire/index.js';
import { artifactKey } from '../../platform/storage/keys.js';
import { firstRunIdOf } from '../external/adopt.js';
import { declaredOutput } from '../start/output.js';
import type { TemporalClient } from '../temporal/client.js';
import { decodeReadable, startOfRun } from './history.js';

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
  try {
    const start = await startOfRun(temporal, { workflowId: description.workflowId, runId });
    const payload = start?.header?.fields?.[OUTPUT_HEADER];
    const [schema] = await decodeReadable(temporal, payload && [payload]);
    return schema as JsonSchema | undefined;
  } catch (error) {
    if (error instanceof LonghaulError && error.kind === 'not_found') return undefined;
    throw error;
  }
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
