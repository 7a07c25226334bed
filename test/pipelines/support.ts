/** Pipelines as files, served by a server and run by workers of their own. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { toOperationSteps } from '../../cli/client/plain.js';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';

/** Input of pipelines whose steps append to a ledger. */
export const LEDGER = `
inputs:
  properties:
    ledger: { type: string }
  required: [ledger]
`;

type Texts = Record<string, string>;

const startShared = (settings: Texts) => TestStack.serverOnSharedWorker(settings);
const startAlone = (settings: Texts) => TestStack.start({ LONGHAUL_MAX_STEPS: '8', ...settings });

export class PipelineProject {
  /** A folder that steps may write into: what they did can be counted. */
  readonly ledgers = mkdtempSync(join(tmpdir(), 'longhaul-pipelines-'));
  readonly folder = join(this.ledgers, 'pipelines');
  parts!: TestStack;

  /** @param pipelines name of the file, without extension -> text */
  private constructor(pipelines: Texts) {
    mkdirSync(this.folder);
    writePipelines(this.folder, pipelines);
  }

  /** A server of these pipelines on the run's shared worker. */
  static shared(pipelines: Texts, settings: Texts = {}): Promise<PipelineProject> {
    return new PipelineProject(pipelines).#serve(startShared, settings);
  }

  /** A server of these pipelines and a worker of its own, for tests that end the worker or give it settings. */
  static start(pipelines: Texts, settings: Texts = {}): Promise<PipelineProject> {
    return new PipelineProject(pipelines).#serve(startAlone, settings);
  }

  /** One for all tests of a file: it is there before them, and stopped after them. */
  static ofFile(pipelines: Texts, worker: 'shared' | 'own' = 'shared'): PipelineProject {
    const project = new PipelineProject(pipelines);
    const start = worker === 'own' ? startAlone : startShared;
    beforeAll(() => project.#serve(start, {}), PROCESSES_MS);
    afterAll(() => project.stop());
    return project;
  }

  async #serve(start: (settings: Texts) => Promise<TestStack>, settings: Texts): Promise<this> {
    this.parts = await start({ LONGHAUL_PIPELINE_FOLDERS: this.folder, ...settings });
    return this;
  }

  get client() {
    return this.parts.client;
  }

  write(name: string, text: string): void {
    writePipelines(this.folder, { [name]: text });
  }

  /** The lines of a ledger; none while there is no such file. */
  lines(name: string): string[] {
    return linesOf(join(this.ledgers, name));
  }

  /** Waits until a ledger has a line this often. */
  async reaches(name: string, line: string, count = 1, limitMs?: number): Promise<void> {
    const isReached = () => this.lines(name).filter((one) => one === line).length >= count;
    await eventually(`${line} is in ${name} ${count} times`, isReached, limitMs);
  }

  /** Ends the wait of steps for the file beside a ledger. */
  letGo(name: string): void {
    writeFileSync(join(this.ledgers, `${name}.go`), '');
  }

  /** Starts a pipeline that appends to a ledger of this name. */
  startOn(tool: string, ledger: string, args: object = {}): Promise<string> {
    return this.client.start(tool, { ledger: join(this.ledgers, ledger), ...args });
  }

  /** Waits for the end; the result of the task. */
  async finish(token: string, limitMs = 120_000): Promise<any> {
    return (await this.client.until(token, 'completed', limitMs)).result;
  }

  /** Calls a tool. @returns its result @throws Error for an error of the protocol */
  async call(name: string, args: object): Promise<any> {
    const { result, error } = await this.client.request('tools/call', { name, arguments: args });
    if (error) throw new Error(JSON.stringify(error));
    return result;
  }

  /** The jobs and steps of an operation, as the server reads them. */
  async children(token: string): Promise<any[]> {
    const { structuredContent, _meta, isError, content } = await this.call('operation_get', {
      token,
      view: 'steps',
    });
    if (isError) throw new Error(JSON.stringify(content));
    const steps = toOperationSteps(structuredContent, _meta['longhaul/status'], _meta['longhaul/parts']);
    return steps.children ?? [];
  }

  resume(token: string, from?: string): Promise<any> {
    return this.call('operation_resume', { token, ...(from === undefined ? {} : { from }) });
  }

  async stop(): Promise<void> {
    await this.parts?.stop();
    rmSync(this.ledgers, { recursive: true, force: true });
  }
}

export function writePipelines(folder: string, pipelines: Texts): void {
  for (const [name, text] of Object.entries(pipelines)) writeFileSync(join(folder, `${name}.yml`), text);
}

export function linesOf(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
}

/** PIDs of the processes that were started with this ledger as input: steps, and what they have left. */
export function processesOn(ledger: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`INPUT_LEDGER=${ledger}\0`);
      } catch {
        return false; // Ended, or another user's.
      }
    });
}

export function textOf(result: any): string {
  return result.content.map((block: any) => block.text ?? '').join('\n');
}

/** Status of every step of a record's children: `build/2` -> `failed`. */
export function stepStatuses(children: any[]): Texts {
  return Object.fromEntries(
    children.flatMap((child) =>
      child.steps.map((step: any, index: number) => [`${child.name}/${index + 1}`, step.status]),
    ),
  );
}
