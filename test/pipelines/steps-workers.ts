/** Workers that run steps in processes of their own, which a test can kill. */
import { expect } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readLauncher, type LauncherRecord } from '../../worker/steps/launcher/record.js';
import type { RunStep } from '../../pipelines/run.js';
import { eventually, readText } from '../stack/cli-process.js';
import { stepOf, StepHome } from './steps-support.js';

/** Runs one step as a worker does, in a process that can be killed. */
const WORKER = `
  import { runStep } from ${JSON.stringify(resolve('dist/worker/steps/run-step.js'))};
  import { HostSteps } from ${JSON.stringify(resolve('dist/worker/steps/host-steps.js'))};
  import { folderStorage } from ${JSON.stringify(resolve('dist/platform/storage/index.js'))};
  const [home, step, stepsEndWithWorker] = process.argv.slice(1);
  const settings = { home, stepEnvironment: [], stepsEndWithWorker: stepsEndWithWorker === 'true' };
  const stop = new AbortController();
  const steps = new HostSteps({ settings, storage: folderStorage(home + '/storage'), graceMs: 1_000 });
  process.once('SIGTERM', () => stop.abort('shutdown'));
  await runStep(JSON.parse(step), {
    settings,
    steps,
    operationId: 'operation-1',
    workflowId: 'operation-1',
    runId: 'run-1',
    namespace: 'default',
    taskQueue: 'queue-1',
    token: 'token-1',
    activityId: '1',
    attempt: 1,
    taskToken: 'dG9rZW4=',
    stop: stop.signal,
  }).catch((error) => console.log(error.name));
  await steps.leave();
  process.exit();
`;

/** Adopts the steps of a home, and prints how many those are. */
const ADOPTER = `
  import { adoptSteps } from ${JSON.stringify(resolve('dist/worker/steps/adopt-steps.js'))};
  import { HostSteps } from ${JSON.stringify(resolve('dist/worker/steps/host-steps.js'))};
  import { folderStorage } from ${JSON.stringify(resolve('dist/platform/storage/index.js'))};
  const home = process.argv[1];
  const activity = { heartbeat: async () => undefined };
  const withDeadline = (_deadline, call) => call();
  const { adopted, settled } = await adoptSteps({
    settings: { home, taskQueue: 'queue-1', heartbeatSeconds: 1 },
    steps: new HostSteps({ settings: { home }, storage: folderStorage(home + '/storage') }),
    client: () => ({ options: { namespace: 'default' }, activity, withDeadline }),
    reportOutcome: async () => true,
    logger: { info() {}, debug() {} },
  });
  await settled;
  console.log(adopted.length);
  `;

/** The environment in which the workers have the secret KEY. */
export const SECRET_ENVIRONMENT = { LONGHAUL_SECRET_KEY: 'top-secret-value' };
export const SECRET = { secrets: ['KEY'] };

export const COUNT = 'echo run >>count; ';
/** Prints numbered lines until the file `go` is there, then its end. */
export const COUNTING = `${COUNT} echo $$ >ready; for ((i = 1; ; i++)); do echo "line $i"; [ ! -e go ] || break; sleep 0.01; done; echo "end $i"`;

export class WorkedHome extends StepHome {
  readonly #workers: ChildProcess[] = [];

  static override async open(): Promise<WorkedHome> {
    const home = new WorkedHome();
    await home.openWorkspace();
    return home;
  }

  file(name: string): string {
    return join(this.paths.workspace, name);
  }

  /** Path of a file in the journal of the first run. */
  journal(name: string): string {
    return join(this.paths.steps, '1', '1.1', name);
  }

  pidIn(name: string): Promise<number> {
    return eventually(`${name} is written`, () => Number(readText(this.file(name))));
  }

  /** The record of the launcher, which it writes while the step runs already. */
  launcherRecord(): Promise<LauncherRecord> {
    return eventually('the launcher has left its record', () => readLauncher(this.journal('.')));
  }

  /** Ends the wait of a step for the file `go`. */
  letGo(): void {
    writeFileSync(this.file('go'), '');
  }

  runs(): number {
    return readText(this.file('count')).split('\n').length - 1;
  }

  /** Expects all output of {@link COUNTING}, in the order of writing, once. */
  expectWholeLog(): void {
    const lines = this.log().trimEnd().split('\n');
    const count = lines.length - 1;
    expect(lines).toEqual([...Array.from({ length: count }, (_, at) => `line ${at + 1}`), `end ${count}`]);
  }

  /** A worker process that runs a step; resolves once the step has written `ready`. @returns function that ends it, and gives its output */
  async worker(
    run: string,
    step: Partial<RunStep> = {},
    stepsEndWithWorker = false,
  ): Promise<(signal: NodeJS.Signals) => Promise<string>> {
    const worker = this.#start(WORKER, [JSON.stringify(stepOf(run, step)), String(stepsEndWithWorker)]);
    await eventually('the step runs', () => readText(this.file('ready')));
    return (signal) => {
      worker.process.kill(signal);
      return worker.ended;
    };
  }

  /** A worker process that runs a step and is killed once the step has written `ready`. */
  async killedWorker(run: string, step: Partial<RunStep> = {}, stepsEndWithWorker = false): Promise<void> {
    await (
      await this.worker(run, step, stepsEndWithWorker)
    )('SIGKILL');
  }

  /** A process that adopts the steps; resolves to their number once all have ended. */
  adoptElsewhere(): Promise<string> {
    return this.#start(ADOPTER, []).ended;
  }

  override async remove(): Promise<number[]> {
    for (const worker of this.#workers) worker.kill('SIGKILL');
    return super.remove();
  }

  #start(code: string, args: string[]): { process: ChildProcess; ended: Promise<string> } {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', code, this.home, ...args], {
      env: { ...process.env, NODE_OPTIONS: '', ...SECRET_ENVIRONMENT },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#workers.push(child);
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    return {
      process: child,
      ended: new Promise((settle) => child.once('close', () => settle(output.trim()))),
    };
  }
}
