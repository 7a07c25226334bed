/** Tasks of 2025-11-25, in a session of a client with forms. */
import { setTimeout as delay } from 'node:timers/promises';
import { FORMS, LegacyClient } from '../../revision-2025-11-25/wire.js';
import {
  elicitResultOf,
  Refused,
  undefinedIfGone,
  type ProtocolClient,
  type Question,
  type Reading,
  type State,
} from './client.js';
import { answerByTool, plainClient } from './plain.js';
import { call, KEY_META, request, session } from './rpc.js';

const REVISION = '2025-11-25';
/** How long a question may take to be shown, in milliseconds. */
const SHOWN_MS = 15_000;
const LOOK_MS = 100;

const STATES: Record<string, State[]> = {
  working: ['submitted', 'working'],
  input_required: ['input_required'],
  completed: ['completed'],
  failed: ['failed', 'timed_out'],
  cancelled: ['canceling', 'canceled'],
};

export function olderTasksClient(url: string): ProtocolClient {
  const rpc = session(url, REVISION, FORMS);
  /** A task doesn't have the keys of its questions; the tools about operations do. */
  const questionsOf = async (token: string, signal?: AbortSignal): Promise<Question[]> =>
    (await plainClient(rpc).read(token, signal))?.questions ?? [];
  const read = (taskId: string, signal?: AbortSignal) =>
    undefinedIfGone(async (): Promise<Reading> => {
      const task = await request(rpc, 'tasks/get', { taskId }, signal);
      const { status, lastUpdatedAt } = task;
      const outcome =
        status === 'completed' ? await request(rpc, 'tasks/result', { taskId }, signal) : undefined;
      return {
        status,
        states: STATES[status]!,
        isOver: ['completed', 'failed', 'cancelled'].includes(status),
        questions: status === 'input_required' ? await questionsOf(taskId, signal) : [],
        updatedAt: lastUpdatedAt,
        // A call that isn't a task would have returned the plain tools' envelope.
        ...(outcome ? { result: outcome.structuredContent.result } : {}),
        raw: { task, outcome },
      };
    });
  return {
    name: `${REVISION} tasks`,
    async start(tool, args, key, signal) {
      const more = { task: {}, _meta: { [KEY_META]: key } };
      const { task } = await call(rpc, tool, args, more, signal);
      return task.taskId;
    },
    read,
    /**
     * Answers the form that `tasks/result` shows. For a question that isn't open no form is shown, and the tool about operations
     * says why.
     */
    async answer(taskId, key, given, signal) {
      const asked = (await questionsOf(taskId, signal)).find((question) => question.key === key);
      const isOpen = async () => (await questionsOf(taskId, signal)).some((question) => question.key === key);
      if (asked && (await answerForm(url, taskId, asked, elicitResultOf(given), isOpen, signal)))
        return undefined;
      return answerByTool(rpc, taskId, key, given, signal);
    },
    async cancel(taskId, signal) {
      try {
        await request(rpc, 'tasks/cancel', { taskId }, signal);
        return true;
      } catch (error) {
        const ended = error instanceof Refused && /terminal status '(\w+)'/.exec(error.message);
        if (!ended) throw error;
        return ended[1] === 'cancelled';
      }
    },
    /** `tasks/result` ends with the work alone. */
    async wait(taskId, seconds, signal) {
      const ends = [AbortSignal.timeout(seconds * 1000), ...(signal ? [signal] : [])];
      await request(rpc, 'tasks/result', { taskId }, AbortSignal.any(ends)).catch((error: unknown) => {
        // The task's own failure is an answer too, and the end of the time is expected.
        signal?.throwIfAborted();
        if (!(error instanceof Refused) && !ends[0]!.aborted) throw error;
      });
      return read(taskId, signal);
    },
  };
}

/**
 * Answers in a session of its own: in one session a question is shown on one stream at a time.
 *
 * @returns false if the question was answered by somebody else before its form was shown
 */
async function answerForm(
  url: string,
  taskId: string,
  { message }: Question,
  result: object,
  isOpen: () => Promise<boolean>,
  signal?: AbortSignal,
): Promise<boolean> {
  const client = await LegacyClient.open(url, REVISION, FORMS);
  const stream = await client.stream(client.message('tasks/result', { taskId }));
  try {
    const deadline = Date.now() + SHOWN_MS;
    for (;;) {
      signal?.throwIfAborted();
      const messages = stream.messages();
      const form = messages.find(
        (one) => one.method === 'elicitation/create' && one.params.message === message,
      );
      if (form) {
        const response = await client.post({ jsonrpc: '2.0', id: form.id, result }, {}, signal);
        await response.text();
        if (!response.ok) throw new Error(`the answer to a form: HTTP ${response.status}`);
        return true;
      }
      // The work has ended first.
      if (messages.some((one) => one.method === undefined))
        throw new Refused('wrong_state', undefined, 'the task ended before its form was shown');
      if (!(await isOpen())) return false;
      if (Date.now() > deadline) throw new Error(`no form within ${SHOWN_MS} ms: ${message}`);
      await delay(LOOK_MS);
    }
  } finally {
    stream.close();
  }
}
