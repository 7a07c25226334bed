/** Open operations by tool and status, and their questions, from visibility. */
import { SEARCH_ATTRIBUTES } from '../../operations/wire/index.js';
import { STATE_MEMO, type StateMemo } from '../../operations/wire/state.js';
import { OTHER } from '../../platform/observe/metrics/index.js';
import { quote } from '../../platform/temporal/visibility-query.js';
import { countRuns, listRuns } from '../list/current-runs.js';
import { IS_WORKING } from '../list/visibility-query.js';
import { decodeMemo } from '../read/history.js';
import type { TemporalClient } from '../temporal/client.js';

const STATUSES = ['working', 'input_required'] as const;

/** Number of operations whose questions' age is read: the newest, since lists begin with them. */
const QUESTIONS_READ = 100;

export interface OpenOperations {
  counts: { tool: string; status: (typeof STATUSES)[number]; count: number }[];
  questions: {
    count: number;
    /** When the oldest was asked, in epoch milliseconds. */
    oldestSinceMs: number | undefined;
  };
  callCount: number;
}

/**
 * Costs a call per status, and one per tool and status while that status has open operations.
 *
 * @param tools names of tools; others' operations are counted together
 * @throws LonghaulError `unavailable`; Error if visibility has no search attributes of Longhaul
 */
export async function readOpenOperations(
  temporal: TemporalClient,
  tools: readonly string[],
): Promise<OpenOperations> {
  const { searchAttributes, openRuns } = await temporal.facts();
  if (!searchAttributes) throw new Error('no search attributes');
  let callCount = 0;
  const countOf = (query: string): Promise<number> => {
    callCount += 1;
    return countRuns(temporal, 'metrics', query);
  };
  const counts: OpenOperations['counts'] = [];
  const questions: OpenOperations['questions'] = { count: 0, oldestSinceMs: undefined };
  for (const status of STATUSES) {
    const query = openQuery(openRuns, temporal.taskQueue, status);
    let rest = await countOf(query);
    if (status === 'input_required') questions.count = rest;
    for (const tool of tools) {
      const count = rest === 0 ? 0 : await countOf(`${query} AND ${SEARCH_ATTRIBUTES.tool} = ${quote(tool)}`);
      rest = Math.max(0, rest - count);
      counts.push({ tool, status, count });
    }
    if (rest > 0) counts.push({ tool: OTHER, status, count: rest });
  }
  if (questions.count > 0) {
    callCount += 1;
    questions.oldestSinceMs = await oldestQuestion(temporal, openRuns);
  }
  return { counts, questions, callCount };
}

function openQuery(openRuns: string, taskQueue: string, status: (typeof STATUSES)[number]): string {
  const { tool, status: attribute } = SEARCH_ATTRIBUTES;
  const term = status === 'working' ? IS_WORKING : `${attribute} = 'input_required'`;
  return `${openRuns} AND TaskQueue = ${quote(taskQueue)} AND ${tool} IS NOT NULL AND ${term}`;
}

async function oldestQuestion(temporal: TemporalClient, openRuns: string): Promise<number | undefined> {
  const query = openQuery(openRuns, temporal.taskQueue, 'input_required');
  const { infos } = await listRuns(temporal, 'metrics', query, QUESTIONS_READ, undefined);
  const since = await Promise.all(
    infos.map(async ({ memo }) => {
      const state = await decodeMemo<StateMemo>(temporal, memo?.fields, STATE_MEMO);
      return Date.parse(state?.questionsSince ?? state?.updatedAt ?? '');
    }),
  );
  const known = since.filter((ms) => !Number.isNaN(ms));
  return known.length > 0 ? Math.min(...known) : undefined;
}
