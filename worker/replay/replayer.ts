/** Replays histories one after another in a process that is started when it is needed, and ended when a replay blocks it. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import proto from '@temporalio/proto';
import { builtProgram } from '../../platform/program.js';
import { withTimeout } from '../../platform/with-timeout.js';
import type { ReplayAnswer, ReplayProblem, ReplayRequest, ReplaySettings } from './process.js';

const { History } = proto.temporal.api.history.v1;
type History = proto.temporal.api.history.v1.IHistory;

/**
 * Outcome of a replay. `not_run`: no workflow task has completed, so that any code fits; `timed_out`: the code didn't give its
 * thread back in time.
 */
export type ReplayOutcome =
  { verdict: 'fits' | 'not_run' | 'timed_out' } | ({ verdict: 'differs' | 'fails' } & ReplayProblem);

export class Replayer {
  #child: ChildProcess | undefined;

  /** @param settings bundle to replay with, and home with the storage of large values */
  constructor(private readonly settings: ReplaySettings) {}

  /**
   * @param workflowId for a history of an older server, which doesn't record it
   * @param limitMs time-out in milliseconds, of the replay alone; none under a debugger
   */
  async replay(history: History, workflowId: string, limitMs: number): Promise<ReplayOutcome> {
    if (!history.events?.some((event) => event.workflowTaskCompletedEventAttributes))
      return { verdict: 'not_run' };
    const child = (this.#child ??= this.#start());
    // The IDs of child workflows are made of it.
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
    const message = await (this.settings.inspectPort === undefined
      ? withTimeout(answered, limitMs)
      : answered);
    ended.abort();
    if (!message) {
      await this.close();
      return { verdict: 'timed_out' };
    }
    const [{ failure }] = message;
    if (!failure) return { verdict: 'fits' };
    return { verdict: failure.isNondeterministic ? 'differs' : 'fails', ...failure };
  }

  /** Ends the process. */
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
      // Node.js prints the debugger's address there.
      stdio: ['ignore', 'ignore', inspectPort === undefined ? 'ignore' : 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    child.on('exit', () => {
      if (this.#child === child) this.#child = undefined;
    });
    return child;
  }
}
