/** Copies of the built release in folders of their own, also two side by side on a task queue of the test's own. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from '@jest/globals';
import { deploymentNameOf } from '../../platform/temporal/deployments.js';
import { eventually } from '../stack/cli-process.js';
import { setCurrentVersion } from '../support/current-version.js';
import { TestStack, type Part } from '../support/test-stack.js';

/** A copy, whose modules may be changed. */
export class Release {
  private constructor(private readonly folder: string) {
    cpSync(resolve('dist'), join(folder, 'dist'), { recursive: true });
    cpSync(resolve('package.json'), join(folder, 'package.json'));
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  }

  /** @param folder doesn't exist yet */
  static copyTo(folder: string): Release {
    mkdirSync(folder, { recursive: true });
    return new Release(folder);
  }

  get main(): string {
    return join(this.folder, 'dist/bin/longhaul.js');
  }

  /**
   * Has each operation wait for a timer before everything else, and each pipeline for another one before its jobs, so that the
   * histories of other releases don't replay.
   */
  plantTimers(): void {
    this.plantTimer('dist/workflows/runtime/interceptors.js', '    countFirstQueueTime();\n');
    this.plantTimer('dist/workflows/pipeline/index.js', '    await runJobs(run, jobs, slots);\n');
    this.#run('dist/worker/versions/build-bundle.js');
  }

  /** Build ID of a worker of this release. @param settings environment variables */
  buildId(settings: Record<string, string>): string {
    const script = `
      const { loadSettings } = await import(${JSON.stringify(join(this.folder, 'dist/platform/settings/index.js'))});
      const { bundleWorkflows } = await import(${JSON.stringify(join(this.folder, 'dist/worker/versions/bundle.js'))});
      console.log((await bundleWorkflows(await loadSettings())).buildId);`;
    return this.#run('--input-type=module', ['--eval', script], settings).trim();
  }

  /** Adds a timer before a statement of a module. */
  plantTimer(file: string, statement: string): void {
    const path = join(this.folder, file);
    const text = readFileSync(path, 'utf8');
    if (!text.includes(statement)) throw new Error(`${path} has no ${statement.trim()}`);
    const planted = text.replace(statement, `    await planted(1);\n${statement}`);
    writeFileSync(path, `import { sleep as planted } from '@temporalio/workflow';\n${planted}`);
  }

  #run(first: string, rest: string[] = [], settings: Record<string, string> = {}): string {
    return execFileSync(process.execPath, [first, ...rest], {
      cwd: this.folder,
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '', ...settings },
    });
  }
}

export class Releases {
  readonly root = mkdtempSync(join(tmpdir(), 'longhaul-releases-'));
  readonly before = Release.copyTo(join(this.root, 'before'));
  readonly after = Release.copyTo(join(this.root, 'after'));
  stack!: TestStack;

  constructor() {
    this.after.plantTimers();
  }

  /** @param pipelines name -> text */
  async start(pipelines: Record<string, string>): Promise<TestStack> {
    const folder = join(this.root, 'pipelines');
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of Object.entries(pipelines)) writeFileSync(join(folder, `${name}.yml`), text);
    // Own stack: its workers are of several releases.
    this.stack = await TestStack.serverAlone({
      LONGHAUL_WORKER_VERSIONING: 'true',
      LONGHAUL_PIPELINE_FOLDERS: folder,
    });
    return this.stack;
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  /** Build ID that a worker says it runs. */
  buildOf(worker: Part): Promise<string> {
    return eventually(
      () => `the worker names its build: ${worker.output()}`,
      () => /"deployment":"[^"]*","buildId":"([^"]*)"/.exec(worker.output())?.[1],
    );
  }

  async makeCurrent(buildId: string): Promise<void> {
    const version = { deploymentName: deploymentNameOf(this.stack.taskQueue), buildId };
    await setCurrentVersion(await this.stack.temporal(), version);
  }

  async versionOf(workflowId: string) {
    const { raw } = await (await this.stack.temporal()).workflow.getHandle(workflowId).describe();
    const info = raw.workflowExecutionInfo?.versioningInfo;
    return { buildId: info?.deploymentVersion?.buildId, behavior: info?.behavior };
  }

  /** Starts an operation that asks. @param buildId build that it has to run on */
  async ask(buildId: string | undefined, tool = 'confirm_delete'): Promise<string> {
    const { client } = this.stack;
    const taskId = await client.start(tool, tool === 'confirm_delete' ? { filename: 'a.txt' } : {});
    await client.until(taskId, 'input_required');
    const behavior = buildId === undefined ? undefined : 1;
    expect(await this.versionOf(taskId)).toEqual({ buildId, behavior });
    return taskId;
  }

  /** Answers an operation's question, and waits for its end. */
  async finish(taskId: string): Promise<void> {
    const { client } = this.stack;
    const { inputRequests } = await client.until(taskId, 'input_required');
    const [[key, { params }]] = Object.entries<any>(inputRequests) as [[string, any]];
    const [field] = Object.keys(params.requestedSchema.properties);
    await client.answer(taskId, key, { action: 'accept', content: { [field!]: true } });
    const { result } = await client.until(taskId, 'completed');
    expect(result.isError).not.toBe(true);
  }
}
