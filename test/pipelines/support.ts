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
import { toOperationSteps } from '../../cli/client/plain.js';
import { eventually } from '../stack/cli-process.js';
import type { WireClient } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';

/** Input of pipelines whose steps append to a ledger. */
export const LEDGER = `
inputs:
  properties:
    ledger: { type: string }
  required: [ledger]
`;

export class PipelineProject {
  private constructor(
    /** A folder that steps may write into: what they did can be counted. */
    readonly ledgers: string,
    readonly folder: string,
    readonly parts: TestStack,
  ) {}

  /**
   * A server of these pipelines on the run's shared worker.
   *
   * @param pipelines name of the file, without extension -> text
   */
  static shared(
    pipelines: Record<string, string>,
    settings: Record<string, string> = {},
  ): Promise<PipelineProject> {
    return PipelineProject.on(pipelines, (environment) =>
      TestStack.serverOnSharedWorker({ ...environment, ...settings }),
    );
  }

  /** A server of these pipelines and a worker of its own, for tests that end the worker or give it settings. */
  static start(
    pipelines: Record<string, string>,
    settings: Record<string, string> = {},
  ): Promise<PipelineProject> {
    return PipelineProject.on(pipelines, (environment) =>
      TestStack.start({ LONGHAUL_MAX_STEPS: '8', ...environment, ...settings }),
    );
  }

  private static async on(
    pipelines: Record<string, string>,
    start: (environment: Record<string, string>) => Promise<TestStack>,
  ): Promise<PipelineProject> {
    const root = mkdtempSync(join(tmpdir(), 'longhaul-pipelines-'));
    const folder = join(root, 'pipelines');
    mkdirSync(folder);
    writePipelines(folder, pipelines);
    return new PipelineProject(root, folder, await start({ LONGHAUL_PIPELINE_FOLDERS: folder }));
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

  /** The jobs and steps of an operation, as the server reads them. */
  children(token: string): Promise<any[]> {
    return childrenOf(this.client, token);
  }

  async resume(token: string, from?: string): Promise<any> {
    const { result, error } = await this.client.request('tools/call', {
      name: 'operation_resume',
      arguments: { token, ...(from === undefined ? {} : { from }) },
    });
    if (error) throw new Error(JSON.stringify(error));
    return result;
  }

  async stop(): Promise<void> {
    await this.parts.stop();
    rmSync(this.ledgers, { recursive: true, force: true });
  }
}

export function writePipelines(folder: string, pipelines: Record<string, string>): void {
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

/** The text of a tool's result. */
export function textOf(result: any): string {
  return result.content.map((block: any) => block.text ?? '').join('\n');
}

/** The jobs and steps of an operation, as the server reads them. */
export async function childrenOf(client: WireClient, token: string): Promise<any[]> {
  const { result, error } = await client.request('tools/call', {
    name: 'operation_get',
    arguments: { token, view: 'steps' },
  });
  if (error ?? result.isError) throw new Error(JSON.stringify(error ?? result));
  const { structuredContent, _meta } = result;
  return (
    toOperationSteps(structuredContent, _meta['longhaul/status'], _meta['longhaul/parts']).children ?? []
  );
}

/** Status of every step of a record's children: `build/2` -> `failed`. */
export function stepStatuses(children: any[]): Record<string, string> {
  return Object.fromEntries(
    children.flatMap((child) =>
      child.steps.map((step: any, index: number) => [`${child.name}/${index + 1}`, step.status]),
    ),
  );
}
