/** The client for tasks of 2026-07-28: it drives the main job, and collects its result. */
import { expect } from '@jest/globals';
import type { Client, Transport } from '@modelcontextprotocol/client';
import {
  createTaskSessionFromClient,
  resultFromTaskOutcome,
  type ApplicationInputHandler,
  type SerializedTaskReference,
  type TaskEnabledSession,
} from '@modelcontextprotocol/ext-tasks/client';
import type { JsonValue } from '@modelcontextprotocol/ext-tasks/core';
import { CAPABILITIES, CLIENT_INFO, connect, MAIN_JOB, PROTOCOL_VERSION } from './support.js';
import type { CoordinatedTransport, MainResult } from './support.js';

/** A client's record of a task, with its result. */
export interface Driven {
  reference: SerializedTaskReference;
  result: MainResult;
}

const ENDPOINT = 'longhaul';

/** The extension's own package on top of the SDK's client. */
export const extTasks = {
  /** Starts the main job, sees it work, answers its question and waits for its end. */
  async drive(inner: Transport): Promise<Driven & { client: Client }> {
    const { client, transport } = await connect(inner);
    const asked: JsonValue[] = [];
    const session = sessionOf(client, transport, async (request) => {
      asked.push(request.params!);
      return { action: 'accept', content: { write: true } } as never;
    });
    const execution = await session.callTool('analyze_dataset', MAIN_JOB);
    if (execution.kind !== 'task') throw new Error(`it is ${execution.kind}`);
    // Its notifications reach the session, which polls anyway.
    const subscription = await client.listen({ taskIds: [execution.handle.taskId] } as object);
    const said: (string | undefined)[] = [];
    const { outcome, lastTask } = await execution.settle({
      onEvent: (event) => void (event.type === 'task' && said.push(event.task.statusMessage)),
    });
    await subscription.close();
    expect(said.some((message) => message?.startsWith('profile'))).toBe(true);
    expect(asked).toEqual([expect.objectContaining({ message: expect.stringContaining('Write it?') })]);
    expect(lastTask?.status).toBe('completed');
    const reference = execution.serializeReference();
    await session.close();
    return { client, reference, result: resultFromTaskOutcome(outcome) as MainResult };
  },

  /** Collects the result of a job that another client started. */
  async collect(
    inner: Transport,
    reference: SerializedTaskReference,
  ): Promise<MainResult & { client: Client }> {
    const { client, transport } = await connect(inner);
    const session = sessionOf(client, transport);
    const execution = await session.resumeTask(reference);
    const { outcome } = await execution.settle();
    const byHand = await session.task(reference.taskId).snapshot();
    expect(byHand.status).toBe('completed');
    await session.close();
    return { client, ...(resultFromTaskOutcome(outcome) as MainResult) };
  },
};

function sessionOf(
  client: Client,
  transport: CoordinatedTransport,
  onInputRequest?: ApplicationInputHandler['handle'],
): TaskEnabledSession {
  return createTaskSessionFromClient(client, {
    endpointId: ENDPOINT,
    rawDispatch: async (request, options) => {
      const answer = await transport.dispatch(request as never, {
        signal: options?.signal,
        headers: options?.context?.headers,
      });
      return 'error' in answer
        ? { kind: 'error', error: answer.error as never }
        : { kind: 'result', result: answer.result as JsonValue };
    },
    v2RequestFraming: {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: CLIENT_INFO,
      clientCapabilities: CAPABILITIES,
    },
    ...(onInputRequest ? { onInputRequest } : {}),
  });
}
