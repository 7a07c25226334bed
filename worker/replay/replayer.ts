/** Replays histories one after another in a child process, started on demand and killed when a replay blocks it. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import proto from '@temporalio/proto';
import { builtProgram } from '../../platform/home/program.js';
import { withTimeout } from '../../platform/with-timeout.js';
import type { ReplayProblem } from './explain.js';
import type { ReplayAnswer, ReplayRequest, ReplaySettings } from './process.js';

const { History } = proto.temporal.api.history.v1;
type History = proto.temporal.api.history.v1.IHistory;

/** `not_run`: no workflow task has completed, so any code fits; `timed_out`: the code didn't give its thread back in time. */
export type ReplayOutcome =
  { verdict: 'fits' | 'not_run' | 'timed_out' } | ({ verdict: 'differs' | 'fails' } & ReplayProblem);

/** Time that the process has to load, beside its first replay. On a busy machine it takes seconds. */
const START_LIMIT_MS = 20_000;

export class Replayer {
  #child: ChildProcess | undefined;

  /** @param settings the bundle to replay with, and the storage of large values */
  constructor(private readonly settings: ReplaySettings) {}

  /**
   * @param workflowId for histories of older servers, which don't record it
   * @param limitMs timeout of the replay alone, in milliseconds; ignored under a debugger
   */
  async replay(history: History, workflowId: string, limitMs: number): Promise<ReplayOutcome> {
    if (!history.events?.some((event) => event.workflowTaskCompletedEventAttributes))
      return { verdict: 'not_run' };
    const limit = this.#child ? limitMs : START_LIMIT_MS + limitMs;
    const child = (this.#child ??= this.#start());
    // IDs of child workflows derive from it.
    const recordedId = history.events[0]!.workflowExecutionStartedEventAttributes?.workflowId;
    const request: ReplayRequest = {
      history: History.encode(history).finish(),
      workflowId: recordedId || workflowId,
    };
    const ended = new AbortController();
    const answered = Promise.race([
      once(child, 'message', { signal: ended.signal }) as Promise<[ReplayAnswer]>,
      once(child, 'exit', { signal: ended.signal }).then(([code, signal]): [ReplayAnswer] => {
        this.#child = undefined;
        return [
          { failure: { message: `the replay ended with ${code ?? signal}`, isNondeterministic: false } },
        ];
      }),
    ]);
    answered.catch(() => undefined);
    child.send(request, () => undefined);
    const message = await (this.settings.inspectPort === undefined ? withTimeout(answered, limit) : answered);
    ended.abort();
    if (!message) {
      await this.close();
      return { verdict: 'timed_out' };
    }
    const [{ failure }] = message;
    if (!failure) return { verdict: 'fits' };
    return { verdict: failure.isNondeterministic ? 'differs' : 'fails', ...failure };
  }

  async close(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  #start(): ChildProcess {
    const { inspectPort } = this.settings;
    const child = fork(builtProgram('replay-histories'), [JSON.stringify(this.settings)], {
      env: { ...process.env, NODE_OPTIONS: '' },
      execArgv: inspectPort === undefined ? [] : [`--inspect-wait=127.0.0.1:${inspectPort}`],
      // Node.js prints the debugger's address to stderr.
      stdio: ['ignore', 'ignore', inspectPort === undefined ? 'ignore' : 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    child.on('exit', () => {
      if (this.#child === child) this.#child = undefined;
    });
    return child;
  }
}
