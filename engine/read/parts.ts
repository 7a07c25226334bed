/** Parts of an open operation: its child workflows, up to a limit. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import proto from '@temporalio/proto';
import { undefinedIf } from '../../operations/errors.js';
import type { ChildRecord } from '../../operations/record.js';
import { PART_MEMO, type PartMemo } from '../../operations/wire/index.js';
import { publishedState, type PublishedState } from '../../operations/wire/state.js';
import { isUnreadable } from '../../operations/wire/unreadable.js';
import type { TemporalClient } from '../temporal/client.js';

const { ParentClosePolicy } = proto.temporal.api.enums.v1;

/** Maximum number of child workflows to describe per read. */
const DESCRIBED_LIMIT = 20;

export interface Part {
  name: string;
  description: WorkflowExecutionDescription;
  state: PublishedState;
  parts: Part[];
}

/**
 * Describes open child workflows, recursively and in order of their start. Every read describes the same ones until they end, so their
 * summed progress doesn't decrease.
 *
 * @throws LonghaulError `unavailable`
 */
export async function describeOpenParts(
  temporal: TemporalClient,
  { raw }: WorkflowExecutionDescription,
  limit = { left: DESCRIBED_LIMIT },
): Promise<Part[]> {
  const pending = (raw.pendingChildren ?? [])
    .filter(
      ({ runId, parentClosePolicy }) =>
        runId && parentClosePolicy !== ParentClosePolicy.PARENT_CLOSE_POLICY_ABANDON,
    )
    .sort((one, other) => Number(one.initiatedId) - Number(other.initiatedId))
    .slice(0, limit.left);
  limit.left -= pending.length;
  const found = await Promise.all(pending.map(({ workflowId }) => readPart(temporal, workflowId!)));
  const parts = found.filter((part) => part !== undefined);
  for (const part of parts)
    if (limit.left > 0) part.parts = await describeOpenParts(temporal, part.description, limit);
  return parts;
}

/** Reads a child workflow, open or closed; undefined if it is no part, or gone. @throws LonghaulError `unavailable` */
export async function readPart(temporal: TemporalClient, workflowId: string): Promise<Part | undefined> {
  const description = await temporal.describe(workflowId).catch(undefinedIf('not_found'));
  const part = description?.memo?.[PART_MEMO] as PartMemo | undefined;
  const state = publishedState(description?.memo) ?? {};
  if (!description || !part || isUnreadable(part)) return undefined;
  return { name: part.name, description, state, parts: [] };
}

/** All parts with full names, each before its own parts. */
export function flattenParts(parts: Part[], prefix = ''): { name: string; part: Part }[] {
  return parts.flatMap((part) => {
    const name = prefix + part.name;
    return [{ name, part }, ...flattenParts(part.parts, `${name}/`)];
  });
}

/** Adds the described parts' status messages to the workflow's complete list of parts. @param live result of the workflow's query */
export function mergeParts(live: ChildRecord[], described: ChildRecord[] = []): ChildRecord[] {
  const messages = new Map(described.map(({ name, statusMessage }) => [name, statusMessage]));
  const names = new Set(live.map(({ name }) => name));
  return [
    ...live.map((one) => {
      const statusMessage = one.statusMessage ?? messages.get(one.name);
      return statusMessage === undefined ? one : { ...one, statusMessage };
    }),
    // The operation's own workflow doesn't know the parts of its parts.
    ...described.filter(({ name }) => name.includes('/') && !names.has(name)),
  ];
}
