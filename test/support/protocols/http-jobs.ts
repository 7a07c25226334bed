/** Jobs over HTTP (docs/http-jobs.md). */
import { JobsClient } from '../jobs.js';
import { Refused, undefinedIfGone, type ProtocolClient, type Reading, type State } from './client.js';
import { questionsIn } from './plain.js';

const STATES: Record<string, State> = {
  queued: 'submitted',
  running: 'working',
  succeeded: 'completed',
  failed: 'failed',
  canceled: 'canceled',
  timed_out: 'timed_out',
};
/** Kinds of errors whose problem type has another name. */
const KINDS: Record<string, string> = {
  job_not_found: 'not_found',
  job_expired: 'expired',
  idempotency_key_reused: 'conflict',
};

/** @param base address of the server */
export function httpJobsClient(base: string): ProtocolClient {
  const jobs = new JobsClient(base);
  const send = async (method: string, path: string, signal?: AbortSignal, body?: object, headers = {}) => {
    const { body: answer, status } = await jobs.request(method, path, {
      ...(signal ? { signal } : {}),
      ...(body ? { body: JSON.stringify(body) } : {}),
      headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
    });
    if (status < 400) return answer;
    const type = String(answer.type).replace('/problems/', '').replaceAll('-', '_');
    throw new Refused(
      KINDS[type] ?? type,
      status,
      answer.detail ?? String(answer),
      answer.retryable === true,
    );
  };
  const path = (id: string) => `/v1/jobs/${encodeURIComponent(id)}`;
  const read = (id: string, query: string, signal?: AbortSignal) =>
    undefinedIfGone(async () => readingOf(await send('GET', `${path(id)}${query}`, signal)));
  return {
    name: 'HTTP jobs',
    async start(tool, args, key, signal) {
      const headers = { prefer: 'respond-async', 'idempotency-key': key };
      return (await send('POST', `/v1/tools/${tool}/jobs`, signal, args, headers)).job_id;
    },
    read: (id, signal) => read(id, '', signal),
    async answer(id, key, given, signal) {
      const answer = given === 'decline' ? { action: given } : { value: given };
      return (await send('POST', `${path(id)}/input`, signal, { key, ...answer })).state;
    },
    async cancel(id, signal) {
      try {
        await send('POST', `${path(id)}:cancel`, signal);
        return true;
      } catch (error) {
        if (error instanceof Refused && error.kind === 'wrong_state') return false;
        throw error;
      }
    },
    resume: async (id, signal) => (await send('POST', `${path(id)}:resume`, signal)).job_id,
    wait: (id, seconds, signal) => read(id, `?wait=${seconds}`, signal),
  };
}

function readingOf(job: any): Reading {
  const { status, cancel_requested, progress, input_required, answers, updated_at, result } = job;
  return {
    status,
    states: [stateOf(job)],
    isOver: !['queued', 'running'].includes(status),
    ...(progress ? { progress } : {}),
    questions: cancel_requested ? [] : questionsIn(input_required?.requests),
    ...(answers ? { answers } : {}),
    updatedAt: updated_at,
    ...(status === 'succeeded' ? { result } : {}),
    ...(job.resumed_from ? { resumedFrom: job.resumed_from } : {}),
    raw: job,
  };
}

function stateOf({ status, cancel_requested, closed_at, input_required }: any): State {
  if (cancel_requested && closed_at === undefined) return 'canceling';
  return status === 'running' && input_required ? 'input_required' : STATES[status]!;
}
