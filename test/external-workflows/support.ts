/** Projects whose tools are YAML files over external workflows, and a worker without Longhaul for them. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { keepOutput } from '../support/process-log.js';
import { protocolClients, untilOver, untilReading, type ProtocolClient } from '../support/protocols/index.js';
import { plainClient } from '../support/protocols/plain.js';
import { stateless } from '../support/protocols/rpc.js';
import { inheritedEnvironment } from '../support/run-temporal.js';
import { TestStack } from '../support/test-stack.js';
import { writeFiles } from '../support/write-files.js';

/** A folder with these files in `tools/`, which ends with the machine's temporary files. */
export function projectOf(tools: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-external-'));
  writeFiles(join(folder, 'tools'), tools);
  return folder;
}

export interface OddWorker {
  output(): string;
  signal(name: NodeJS.Signals): void;
  kill(): Promise<void>;
}

/** Starts test/external-workflows/odd/worker.ts. */
export async function startOddWorker(
  taskQueue: string,
  namespace = 'default',
  ...flags: 'codec'[]
): Promise<OddWorker> {
  const script = resolve('test/external-workflows/odd/worker.ts');
  const child = spawn(
    process.execPath,
    ['--import', 'jiti/register', script, taskQueue, namespace, ...flags],
    {
      env: { ...inheritedEnvironment({}), NODE_OPTIONS: '' },
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  );
  keepOutput(child, 'odd-worker');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<void>((settle) => child.once('close', () => settle()));
  await eventually(
    () => `the worker is ready; ${output}`,
    () => {
      if (child.exitCode !== null) throw new Error(`the worker ended: ${output}`);
      return output.includes('ready');
    },
    PROCESSES_MS,
  );
  return {
    output: () => output,
    signal: (name) => child.kill(name),
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** A server over a project's tools, an odd worker on its task queue, and a client of each protocol. */
export class OddStack {
  readonly project: string;
  parts!: TestStack;
  odd!: OddWorker;
  clients!: ProtocolClient[];
  /** Client of the plain contract. */
  client!: ProtocolClient;

  private constructor(
    private readonly queue: string,
    tools: Record<string, string>,
  ) {
    this.project = projectOf(tools);
  }

  /** One for all tests of a file: it is there before them, and ends after them. Hooks run in their order. */
  static ofFile(queue: string, tools: Record<string, string>): OddStack {
    const stack = new OddStack(queue, tools);
    beforeAll(() => stack.#start(), PROCESSES_MS);
    afterAll(() => stack.#stop());
    return stack;
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

  /** Starts a workflow on the odd worker's queue, as somebody does who doesn't know Longhaul. @returns its ID */
  readonly startByHand = async (type: string, args: unknown[], more: object = {}): Promise<string> => {
    const workflowId = `by-hand-${randomUUID()}`;
    const { workflow } = await this.parts.temporal();
    await workflow.start(type, { workflowId, taskQueue: this.queue, args, ...more });
    return workflowId;
  };

  async #start(): Promise<void> {
    [this.parts, this.odd] = await Promise.all([
      TestStack.serverOnSharedWorker({ LONGHAUL_PROJECT: this.project }),
      startOddWorker(this.queue),
    ]);
    this.clients = protocolClients(this.parts.base);
    this.client = plainClient(stateless(`${this.parts.base}/mcp`, {}));
  }

  async #stop(): Promise<void> {
    await Promise.all((this.clients ?? []).map(async (one) => one.close?.()));
    await Promise.all([this.odd?.kill(), this.parts?.stop()]);
  }
}
