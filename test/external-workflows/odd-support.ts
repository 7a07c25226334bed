/** A server over the odd worker's workflows (odd/workflows.ts), and what the tests of both files do with it. */
import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { plainClient } from '../support/protocols/plain.js';
import { protocolClients, untilOver, untilReading, type ProtocolClient } from '../support/protocols/index.js';
import { stateless } from '../support/protocols/rpc.js';
import { TestStack } from '../support/test-stack.js';
import { projectOf, startOddWorker, type OddWorker } from './support.js';

/** The task queue of this file's odd worker. */
export const QUEUE = `odd-${randomUUID()}`;
const workflow = (type: string) => `workflow: { type: ${type}, task-queue: ${QUEUE} }`;
const TICKS_INPUT = 'input: { properties: { goal: { type: integer } }, required: [goal] }';

/** A tool over a workflow whose result is a list. @param output schema of the result */
export const declaring = (output: string) =>
  `${workflow('Result')}\ninput: { properties: { kind: { type: string } } }\nargs: [kind]\noutput: ${output}\n`;

export const TOOLS = {
  'result.yaml': `${workflow('Result')}\ninput: { properties: { kind: { type: string } } }\nargs: [kind]\n`,
  'declared.yaml': declaring('{ type: array, items: { type: string } }'),
  'echo.yaml': `${workflow('Echo')}
input: { properties: { first: { type: string }, second: { type: integer }, wait_minutes: { type: number } } }
args: [first, second, { wait: wait_minutes }]
`,
  'fails.yaml': `${workflow('Fails')}\ninput: { properties: { message: { type: string } } }\nargs: [message]\nretryable-errors: [Odd]\n`,
  'beats.yaml': `${workflow('Heartbeats')}
input: { properties: { rows: { type: integer } } }
args: [rows]
progress: { heartbeats: true, map: { progress: rows, total: total } }
`,
  'unmapped.yaml': `${workflow('Heartbeats')}\ninput: { properties: { rows: { type: integer } } }\nargs: [rows]\n`,
  'ticks.yaml': `${workflow('Ticks')}
${TICKS_INPUT}
args: [goal]
progress: { query: progress, map: { progress: at.done, total: at.of, stage: step } }
`,
  'lacking.yaml': `${workflow('Ticks')}
${TICKS_INPUT}
args: [goal]
progress: { query: progres, map: { progress: at.done } }
`,
  'throwing.yaml': `${workflow('Ticks')}
${TICKS_INPUT}
args: [goal]
progress: { query: throws, map: { progress: at.done } }
`,
  'asks.yaml': `${workflow('Asks')}
input: { properties: { times: { type: integer } } }
args: [times]
question:
  query: question
  fields: { properties: { approved: { type: boolean }, comment: { type: string } }, required: [approved] }
  answer: { update: decide, args: [approved, comment], decline: [false, declined] }
`,
  'reviews.yaml': `${workflow('Reviews')}
input: { properties: { names: { type: array, items: { type: string } } } }
args: [names]
question:
  query: open
  key: id
  fields: { properties: { id: { type: string }, verdict: { enum: [good, bad] } }, required: [id, verdict] }
  answer: { signal: reply }
`,
  'stubborn.yaml': workflow('Stubborn'),
  'stops.yaml': `${workflow('Stops')}\ncancel: { signal: stop, args: [asked to] }\n`,
  'moves.yaml': `${workflow('Moves')}\ninput: { properties: { queue: { type: string } } }\nargs: [queue]\n`,
  'unknown_type.yaml': workflow('NoSuchWorkflow'),
  'unserved.yaml': `workflow: { type: Echo, task-queue: nobody-${QUEUE} }\n`,
  'named.yaml': `workflow: { type: Ticks, task-queue: ${QUEUE}, id: 'order-${QUEUE}-{goal}' }
${TICKS_INPUT}
args: [goal]
`,
  'short.yaml': `${workflow('Ticks')}\n${TICKS_INPUT}\nargs: [goal]\ntimeout-minutes: 0.05\n`,
};

export class OddStack {
  private constructor(
    readonly parts: TestStack,
    readonly odd: OddWorker,
    readonly clients: ProtocolClient[],
    /** The plain contract's. */
    readonly client: ProtocolClient,
  ) {}

  static async start(): Promise<OddStack> {
    const [parts, odd] = await Promise.all([
      TestStack.serverOnSharedWorker({ LONGHAUL_PROJECT: projectOf(TOOLS) }),
      startOddWorker(QUEUE),
    ]);
    const client = plainClient(stateless(`${parts.base}/mcp`, {}));
    return new OddStack(parts, odd, protocolClients(parts.base), client);
  }

  readonly begin = (tool: string, args: object = {}) => this.client.start(tool, args, randomUUID());
  readonly until = (what: string, token: string, holds: (reading: any) => unknown, on = this.client) =>
    untilReading(on, what, token, holds);
  readonly ended = (token: string, on = this.client) => untilOver(on, token);
  /** The plain contract's whole answer, as text: it has the status message. */
  readonly shown = async (token: string) => JSON.stringify((await this.client.read(token))?.raw);
  readonly handleOf = async (token: string): Promise<WorkflowHandle> =>
    (await this.parts.temporal()).workflow.getHandle(token);
  readonly tick = async (token: string) => (await this.handleOf(token)).signal('tick');

  async stop(): Promise<void> {
    await Promise.all(this.clients.map(async (one) => one.close?.()));
    await Promise.all([this.odd.kill(), this.parts.stop()]);
  }
}
