/** cargo test: the lines that libtest prints for people, since its JSON isn't stable. */
import type { TestEvent } from '../types.js';
import type { RunnerAdapter } from './index.js';

export const cargo: RunnerAdapter = {
  hasListedShards: false,
  run: async ({ filter, runnerArgs }) =>
    merged([...runnerArgs, ...(filter === undefined ? [] : ['--', filter])]),
  // One binary can't be chosen by the name that cargo prints: a test of this name runs in all of them.
  rerun: async ({ runnerArgs }, tests) =>
    merged([...runnerArgs, '--', '--exact', ...new Set(tests.map(({ name }) => name))]),
  environment: { RUST_BACKTRACE: '0' },
  reader: () => readCargo(),
};

/** The names of binaries come on standard error, between the lines of the tests on standard output: both as one stream. */
const merged = (args: string[]) => ['sh', '-c', 'exec cargo test --no-fail-fast "$@" 2>&1', 'cargo', ...args];

function readCargo(): (line: string | undefined) => { events: TestEvent[]; text?: string } {
  let file = '';
  let open = 0;
  let ended = 0;
  /** Test whose output is being printed. */
  let about: string | undefined;
  let message: string[] = [];
  return (line) => {
    if (line === undefined) return { events: ended > 0 && open === 0 ? [{ event: 'done' }] : [] };
    const events: TestEvent[] = [];
    const binary = /^\s+(?:Running (?:unittests )?(\S+)|Doc-tests (\S+))/.exec(line);
    if (binary) file = binary[1] ?? `doc-tests of ${binary[2]}`;
    if (/^running \d+ tests?$/.test(line)) open += 1;
    const section = /^---- (.+) stdout ----$/.exec(line);
    if (about !== undefined && (section || line === 'failures:')) {
      events.push({ event: 'message', file, name: about, message: message.join('\n') });
      about = undefined;
    }
    if (section) [about, message] = [section[1], []];
    else if (about !== undefined && message.length < 100) message.push(line);
    const test = /^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)\b/.exec(line);
    if (test && about === undefined) {
      const status = ({ ok: 'passed', FAILED: 'failed', ignored: 'skipped' } as const)[test[2] as 'ok'];
      // libtest prints no times.
      events.push({ event: 'end', file, name: test[1]!, status, ms: 0 });
    }
    if (/^test result: /.test(line)) {
      [open, ended] = [open - 1, ended + 1];
      events.push({ event: 'file', file });
    }
    return { events, text: line };
  };
}
