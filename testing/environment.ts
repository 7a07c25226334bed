/**
 * An environment for tests of tools: server and worker as real processes on a task queue of their own, called over MCP.
 * Needs no test runner in particular; environments run side by side.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Client } from '@temporalio/client';
import type { History } from '@temporalio/worker';
import { endSteps } from '../activities/pipeline/end-steps.js';
import type { ToolDeclaration } from '../cli/client/wire.js';
import type { Tool, ToolInput, ToolOutput } from '../operations/tool.js';
import { loadSettings, type LonghaulConfig, type Settings } from '../platform/settings/index.js';
import { anyFreePort } from '../platform/http/free-address.js';
import { projectFilesOf } from '../platform/project.js';
import { yamlFolders, yamlPaths } from '../platform/tools.js';
import { mcpUrl } from '../stack/readiness.js';
import { TestClient } from './client.js';
import { refusal, TestEnvironmentError } from './errors.js';
import { OperationHandle, type WaitOptions } from './operation.js';
import { PartProcess, untilReady } from './processes.js';
import { replayHistory } from './replay.js';
import { connectTestTemporal, type TestTemporal } from './temporal.js';

/** Time between SIGTERM and SIGKILL of the pipeline steps that run as an environment is closed, in milliseconds. */
const STEP_GRACE_MS = 5_000;

export interface TestToolEnvironmentOptions {
  /** Folder with `tools/`, `workflows/` and `activities/`. Default: that of `longhaul.config.*`, else the working folder. */
  project?: string;
  /** Settings that are other than in `longhaul.config.*` and in variables such as LONGHAUL_DATA_FOLDERS. */
  settings?: Omit<LonghaulConfig, 'home' | 'host' | 'port' | 'temporalPort' | 'taskQueue' | 'project'>;
  /** Environment variables of the server and the worker, beside those of this process. */
  environment?: Record<string, string>;
  /**
   * Which Temporal to use. Default: the one that TEMPORAL_ADDRESS or TEMPORAL_PROFILE names, else that of a running
   * `longhaul up`, else `embedded`: one that is started for this environment, with a database that is thrown away.
   */
  temporal?: 'embedded' | { address: string; namespace?: string };
  /** Takes notices, such as that Temporal is being installed, which takes minutes the first time. Default: standard error. */
  onNotice?: (line: string) => void;
}

export interface StartOptions {
  /** Values for the arguments that the tool asks for before it starts (`askFor` of its definition). */
  askFor?: Record<string, unknown>;
}

/** Arguments of a call: those with a default may be left out. */
export type ToolArguments<T> = Partial<ToolInput<T>>;

interface Parts {
  settings: Settings;
  temporal: TestTemporal;
  server: PartProcess;
  worker: PartProcess;
  client: TestClient;
}

/**
 * Server, worker and client for tests of a project's tools, in the manner of Temporal's `TestWorkflowEnvironment`.
 *
 * @example
 * await using environment = await TestToolEnvironment.create();
 * const result = await environment.call(brew, { cups: 2 });
 */
export class TestToolEnvironment implements AsyncDisposable {
  readonly #parts: Parts;
  readonly #tokens = new Set<string>();
  #closing: Promise<void> | undefined;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Starts an environment: about 3 seconds, most of them for bundling the workflows.
   *
   * @throws TestEnvironmentError when no Temporal answers, there is no such project, or a file of it can't be used: the message
   *   names each file; SettingsError
   */
  static async create(options: TestToolEnvironmentOptions = {}): Promise<TestToolEnvironment> {
    const { project, settings: given, temporal, environment } = options;
    const say = options.onNotice ?? ((line) => void process.stderr.write(`longhaul/testing: ${line}\n`));
    // The configuration file is the project's, wherever the tests run.
    const folder = resolve(project ?? '.');
    const own = await loadSettings({ ...given, ...(project && { project: folder }) }, process.env, folder);
    assertProject(own);
    const home = mkdtempSync(join(tmpdir(), `longhaul-testing-${process.pid}-`));
    const undo: (() => Promise<unknown>)[] = [() => rm(home, { recursive: true, force: true })];
    try {
      const settings = await environmentSettings(own, home);
      const connected = await connectTestTemporal(settings, own.home, temporal, say);
      undo.push(() => connected.close());
      const variables = { ...connected.environment, ...environment };
      const server = new PartProcess('server', settings, variables);
      const worker = new PartProcess('worker', settings, variables);
      const client = new TestClient(new URL(mcpUrl(settings)));
      undo.push(() => Promise.all([server.kill(), worker.stop(), client.close()]));
      await Promise.all([server.start(), worker.start()]);
      await untilReady(settings);
      const { problems } = await client.listTools();
      if (problems.length > 0)
        throw new TestEnvironmentError(`files of the project can't be used:\n${problems.join('\n')}`);
      return new TestToolEnvironment({ settings, temporal: connected, server, worker, client });
    } catch (error) {
      for (const step of undo.reverse()) await step();
      throw error;
    }
  }

  /** The MCP endpoint, for a client of your own: `http://127.0.0.1:PORT/mcp`. */
  get url(): string {
    return this.#parts.client.url.href;
  }

  /** Temporal's client: histories, descriptions, signals. */
  get client(): Client {
    return this.#parts.temporal.client;
  }

  /** `host:port` of Temporal's frontend. */
  get address(): string {
    return this.#parts.temporal.address;
  }

  /** Folder of its data, with the logs of its processes in `logs/`; `close` removes it. */
  get home(): string {
    return this.#parts.settings.home;
  }

  get taskQueue(): string {
    return this.#parts.settings.taskQueue;
  }

  /** The tools as clients see them, those about operations among them. */
  async listTools(): Promise<ToolDeclaration[]> {
    return (await this.#parts.client.listTools()).tools;
  }

  /**
   * Calls a tool and waits for its result.
   *
   * @param tool its definition, for the types, or its name
   * @returns the result
   * @throws LonghaulError when the call is refused, e.g. `unknown_tool`, `invalid_arguments`
   * @throws OperationFailedError when the work ends without a result; WaitTimeoutError
   */
  call<T extends Tool>(
    tool: T,
    args: ToolArguments<T>,
    options?: StartOptions & WaitOptions,
  ): Promise<ToolOutput<T>>;
  call(tool: string, args?: Record<string, unknown>, options?: StartOptions & WaitOptions): Promise<unknown>;
  async call(
    tool: Tool | string,
    args: Record<string, unknown> = {},
    { askFor, ...options }: StartOptions & WaitOptions = {},
  ): Promise<unknown> {
    const answer = await this.#parts.client.callTool(nameOf(tool), args, askFor);
    return answer.resultType === 'task'
      ? this.#handle(answer.taskId).result(options)
      : answer.structuredContent;
  }

  /**
   * Starts a tool, without waiting.
   *
   * @returns a handle, once the operation is durable
   * @throws LonghaulError when the call is refused; `wrong_state` for a tool that answers at once
   */
  start<T extends Tool>(
    tool: T,
    args: ToolArguments<T>,
    options?: StartOptions,
  ): Promise<OperationHandle<ToolOutput<T>>>;
  start(tool: string, args?: Record<string, unknown>, options?: StartOptions): Promise<OperationHandle>;
  async start(
    tool: Tool | string,
    args: Record<string, unknown> = {},
    { askFor }: StartOptions = {},
  ): Promise<OperationHandle> {
    const answer = await this.#parts.client.callTool(nameOf(tool), args, askFor);
    if (answer.resultType === 'task') return this.#handle(answer.taskId);
    throw refusal('wrong_state', `${nameOf(tool)} answers at once and leaves no operation: use call()`);
  }

  /** A handle on an operation by its token, e.g. of one that another client started. */
  handle(token: string): OperationHandle {
    return this.#handle(token);
  }

  /**
   * Ends the worker process with SIGKILL: nothing is saved, no activity is cancelled, as in a crash. Steps of pipelines run on, and
   * the next worker takes them over.
   */
  killWorker(): Promise<void> {
    return this.#parts.worker.kill();
  }

  /**
   * Ends the worker process in good order: activities get 5 seconds, then they are cancelled and tried again later. Steps of
   * pipelines run on, and the next worker takes them over.
   */
  stopWorker(): Promise<void> {
    return this.#parts.worker.stop();
  }

  /** Starts the worker after {@link killWorker} or {@link stopWorker}. @throws TestEnvironmentError */
  startWorker(): Promise<void> {
    return this.#parts.worker.start();
  }

  /** The worker's log so far: JSON, a line for each entry. */
  workerLog(): string {
    const { logPath } = this.#parts.worker;
    return existsSync(logPath) ? readFileSync(logPath, 'utf8') : '';
  }

  /**
   * Replays a history with the current code of the project's workflows, in a process of its own. A change after which it fails
   * would block operations that are open.
   *
   * @param history of an operation (`fetchHistory`), or the path of a file that `saveHistory` or Temporal's tools have written
   * @throws ReplayError
   */
  replay(history: History | string): Promise<void> {
    return replayHistory(this.#parts.settings, history);
  }

  /**
   * Terminates the operations that are open, ends all processes, those of pipeline steps included, and removes what is left: files, the database of a Temporal of
   * its own, and the histories on one that others use.
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const { settings, temporal, server, worker, client } = this.#parts;
    try {
      await temporal.cleanUp(settings.taskQueue, this.#tokens);
    } finally {
      await client.close();
      // The server holds nothing, and would wait for connections that the client keeps open.
      await Promise.all([server.kill(), worker.stop()]);
      await Promise.all([temporal.close(), endSteps(settings.home, STEP_GRACE_MS)]);
      // Processes that were killed may still be closing files.
      await rm(settings.home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    }
  }

  #handle<Output = unknown>(token: string): OperationHandle<Output> {
    this.#tokens.add(token);
    return new OperationHandle(token, this.#parts.client, this.client);
  }
}

function nameOf(tool: Tool | string): string {
  return typeof tool === 'string' ? tool : tool.name;
}

/** The project's settings, on a home, a port and a task queue of its own. */
async function environmentSettings(own: Settings, home: string): Promise<Settings> {
  const host = '127.0.0.1';
  return {
    ...own,
    home,
    host,
    port: await anyFreePort(host),
    temporalPort: undefined,
    taskQueue: `testing-${randomUUID()}`,
    kickoffsPerMinute: 1_000_000,
    statusPerMinute: 1_000_000,
  };
}

/** @throws TestEnvironmentError when there is nothing to test */
function assertProject(settings: Settings): void {
  const { project, pipelineFolders } = settings;
  if (projectFilesOf('tools', settings).length > 0 || pipelineFolders.some((folder) => existsSync(folder)))
    return;
  if (yamlFolders(settings).some(({ path }) => yamlPaths(path).length > 0)) return;
  throw new TestEnvironmentError(
    `project ${project}: expected a folder with files in tools/ or pipelines/; ${existsSync(project) ? 'there are none' : 'there is no such folder'}`,
  );
}
