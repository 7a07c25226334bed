/** Runs a server and a worker as real processes on their own task queue, for any test runner. Environments can run side by side. */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Client } from '@temporalio/client';
import type { History } from '@temporalio/worker';
import { endSteps } from '../worker/steps/end-steps.js';
import type { ToolDeclaration } from '../cli/client/wire.js';
import type { Tool, ToolInput, ToolOutput } from '../operations/tool/index.js';
import { loadSettings, type LonghaulConfig, type Settings } from '../platform/settings/index.js';
import { anyFreePort } from '../platform/http/free-address.js';
import { projectFilesOf } from '../platform/project/index.js';
import { yamlFolders, yamlPaths } from '../platform/project/tools.js';
import { mcpUrl } from '../stack/readiness.js';
import { TestClient } from './client.js';
import { refusal, TestEnvironmentError, ReplayError } from './errors.js';
import { OperationHandle, type WaitOptions } from './operation.js';
import { PartProcess, untilReady } from './processes.js';
import { connectTestTemporal, type TestTemporal } from './temporal.js';
import { storageChoice } from '../platform/storage/index.js';
import { bundleInChildProcess } from '../worker/versions/bundle.js';
import { describeProblem } from '../worker/replay/explain.js';
import { HistoryFileError, readHistoryFile } from '../worker/replay/history-file.js';
import { Replayer } from '../worker/replay/replayer.js';

/** Milliseconds between SIGTERM and SIGKILL for pipeline steps that still run when you close the environment. */
const STEP_GRACE_MS = 5_000;

export interface TestToolEnvironmentOptions {
  /** Folder with `tools/`, `workflows/` and `activities/`. Default: the project of `longhaul.config.*`, else the working folder. */
  project?: string;
  /** Overrides `longhaul.config.*` and variables such as LONGHAUL_DATA_FOLDERS. */
  settings?: Omit<LonghaulConfig, 'home' | 'host' | 'port' | 'temporalPort' | 'taskQueue' | 'project'>;
  /** Environment variables for the server and the worker, added to this process's own. */
  environment?: Record<string, string>;
  /**
   * Which Temporal to use. Default: the one in TEMPORAL_ADDRESS or TEMPORAL_PROFILE, else a running `longhaul up`, else
   * `embedded`. `embedded` starts a Temporal for this environment and discards its database.
   */
  temporal?: 'embedded' | { address: string; namespace?: string };
  /** Gets notices, e.g. that Temporal is being installed, which takes minutes the first time. Default: standard error. */
  onNotice?: (line: string) => void;
}

export interface StartOptions {
  /** Values for the arguments in the tool's `askFor`, which it asks for before it starts. */
  askFor?: Record<string, unknown>;
}

/** Arguments of a call. You may leave out those with a default. */
export type ToolArguments<T> = Partial<ToolInput<T>>;

interface Parts {
  settings: Settings;
  temporal: TestTemporal;
  server: PartProcess;
  worker: PartProcess;
  client: TestClient;
}

/**
 * Server, worker and client for testing a project's tools, like Temporal's `TestWorkflowEnvironment`.
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
   * Starts an environment in about 3 seconds, mostly to bundle the workflows.
   *
   * @throws TestEnvironmentError when no Temporal answers, or the project or its files can't be used (named in the message);
   *   SettingsError
   */
  static async create(options: TestToolEnvironmentOptions = {}): Promise<TestToolEnvironment> {
    const { project, settings: given, temporal, environment } = options;
    const say = options.onNotice ?? ((line) => void process.stderr.write(`longhaul/testing: ${line}\n`));
    // Read the project's own configuration file, wherever the tests run.
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

  /** The MCP endpoint, for your own client: `http://127.0.0.1:PORT/mcp`. */
  get url(): string {
    return this.#parts.client.url.href;
  }

  /** Temporal's client, for histories, descriptions and signals. */
  get client(): Client {
    return this.#parts.temporal.client;
  }

  /** `host:port` of Temporal's frontend. */
  get address(): string {
    return this.#parts.temporal.address;
  }

  /** Data folder, with the processes' logs in `logs/`. `close` removes it. */
  get home(): string {
    return this.#parts.settings.home;
  }

  get taskQueue(): string {
    return this.#parts.settings.taskQueue;
  }

  /** The tools as clients see them, including Longhaul's own operation tools. */
  async listTools(): Promise<ToolDeclaration[]> {
    return (await this.#parts.client.listTools()).tools;
  }

  /**
   * Calls a tool and waits for its result.
   *
   * @param tool its definition, which types the call, or its name
   * @throws LonghaulError when the server refuses the call, e.g. `unknown_tool`, `invalid_arguments`
   * @throws OperationFailedError when the operation ends without a result; WaitTimeoutError
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
   * Starts a tool and returns a handle once the operation is durable.
   *
   * @throws LonghaulError when the server refuses the call; `wrong_state` for a tool that answers at once
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

  /** A handle for an operation token, e.g. one that another client started. */
  handle(token: string): OperationHandle {
    return this.#handle(token);
  }

  /**
   * Sends SIGKILL to the worker, like a crash: nothing is saved and no activity is cancelled.
   * Pipeline steps keep running, and the next worker adopts them.
   */
  killWorker(): Promise<void> {
    return this.#parts.worker.kill();
  }

  /**
   * Stops the worker gracefully. Activities get 5 seconds, then they are cancelled and retried later.
   * Pipeline steps keep running, and the next worker adopts them.
   */
  stopWorker(): Promise<void> {
    return this.#parts.worker.stop();
  }

  /** Starts the worker after {@link killWorker} or {@link stopWorker}. @throws TestEnvironmentError */
  startWorker(): Promise<void> {
    return this.#parts.worker.start();
  }

  /** The worker's log so far, one JSON entry per line. */
  workerLog(): string {
    const { logPath } = this.#parts.worker;
    return existsSync(logPath) ? readFileSync(logPath, 'utf8') : '';
  }

  /**
   * Replays a history with the project's current workflows, in a separate process.
   * If it fails, deploying the current code would block open operations.
   *
   * @param history from `fetchHistory`, or the path of a file written by `saveHistory` or Temporal's tools
   * @throws ReplayError
   */
  replay(history: History | string): Promise<void> {
    return replayHistory(this.#parts.settings, history);
  }

  /**
   * Terminates open operations, ends all processes and pipeline steps, and removes files, the embedded database, and histories on
   * a shared Temporal.
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
      // Kill the server: it holds no state, and would wait for the client's open connections.
      await Promise.all([server.kill(), worker.stop()]);
      await Promise.all([temporal.close(), endSteps(settings.home, STEP_GRACE_MS)]);
      // Killed processes may still be closing files.
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

/** The project's settings with a separate home, port and task queue. */
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

/** Time limit of a replay, in milliseconds. */
const REPLAY_LIMIT_MS = 60_000;

/** @param history from Temporal's client, or the path of a JSON file @throws ReplayError */
async function replayHistory(settings: Settings, history: History | string): Promise<void> {
  const replayed = typeof history === 'string' ? await readHistory(history) : history;
  const { codePath } = await bundleInChildProcess(settings).catch(refuse);
  const replayer = new Replayer({ codePath, storage: storageChoice(settings) });
  try {
    const outcome = await replayer.replay(replayed, 'replayed', REPLAY_LIMIT_MS);
    if (outcome.verdict === 'timed_out')
      throw new ReplayError(`the code blocked its thread for ${REPLAY_LIMIT_MS / 1_000} s`, false);
    if ('message' in outcome) throw new ReplayError(describeProblem(outcome), outcome.isNondeterministic);
  } finally {
    await replayer.close();
  }
}

async function readHistory(path: string): Promise<History> {
  try {
    return await readHistoryFile(path);
  } catch (error) {
    if (!(error instanceof HistoryFileError)) throw error;
    return refuse(error);
  }
}

function refuse(error: Error): never {
  throw new ReplayError(error.message, false);
}
