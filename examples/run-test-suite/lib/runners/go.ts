/** go test -json: a JSON object for each event (`go doc test2json`). */
import type { TestEvent } from '../types.js';
import type { RunnerAdapter } from './index.js';

/** Packages that have tests. */
const WITH_TESTS = '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}';

/** Characters of a test's output that are kept for its message. */
const MOST_OUTPUT = 8_192;

export const go: RunnerAdapter = {
  list: async (_choice, capture) => {
    const { stdout } = await capture(['go', 'list', '-e', '-f', WITH_TESTS, './...']);
    return stdout.split('\n').filter(Boolean);
  },
  hasListedShards: true,
  run: async ({ filter, runnerArgs }, { files = [] }) => [
    ...COMMAND,
    ...(filter === undefined ? [] : [`-run=${filter}`]),
    ...runnerArgs,
    ...files,
  ],
  rerun: async ({ runnerArgs }, tests) => {
    // A subtest runs with its parent.
    const names = [...new Set(tests.map(({ name }) => name.split('/')[0]!))];
    const packages = [...new Set(tests.map(({ file }) => file))];
    const isWhole = names.includes('(the package)');
    return [...COMMAND, ...(isWhole ? [] : [`-run=^(${names.join('|')})$`]), ...runnerArgs, ...packages];
  },
  reader: ({ files = [] }) => readGo(files.length),
};

const COMMAND = ['go', 'test', '-json', '-count=1'];

interface GoEvent {
  Action: string;
  Package?: string;
  ImportPath?: string;
  Test?: string;
  Elapsed?: number;
  Output?: string;
}

/** @param packages that are run; 0 if their number isn't known */
function readGo(packages: number): (line: string | undefined) => { events: TestEvent[]; text?: string } {
  const output = new Map<string, string>();
  const parents = new Set<string>();
  /** Packages and parents of tests that have failed. */
  const failing = new Set<string>();
  const open = new Set<string>();
  let ended = 0;
  return (line) => {
    if (line === undefined)
      return { events: ended > 0 && ended >= packages && open.size === 0 ? [{ event: 'done' }] : [] };
    const event = parse(line);
    if (!event) return { events: [], text: line };
    const {
      Action: action,
      Package: file = event.ImportPath?.split(' ')[0] ?? '',
      Test: test,
      Elapsed = 0,
    } = event;
    const key = test === undefined ? file : `${file}\0${test}`;
    if (event.Output !== undefined) {
      output.set(key, ((output.get(key) ?? '') + event.Output).slice(-MOST_OUTPUT));
      return { events: [], text: event.Output.trimEnd() };
    }
    const status = ({ pass: 'passed', fail: 'failed', skip: 'skipped' } as const)[action];
    if (action === 'start') open.add(file);
    if (action === 'run' && test !== undefined) {
      for (const parent of parentsOf(test)) parents.add(`${file}\0${parent}`);
      return { events: [{ event: 'start', file, name: test }] };
    }
    if (status === undefined) return { events: [] };
    const message = (output.get(key) ?? '').replace(/^(=== |\s*--- ).*\n?/gm, '').trim();
    output.delete(key);
    const ms = Math.round(Elapsed * 1000);
    if (test !== undefined) {
      // A parent counts only when it fails by itself.
      const isParent = parents.has(key) && (status !== 'failed' || failing.has(key));
      if (status === 'failed')
        for (const one of [file, ...parentsOf(test).map((parent) => `${file}\0${parent}`)]) failing.add(one);
      return { events: [{ event: 'end', file, name: test, status, ms, message, isParent }] };
    }
    ended += 1;
    open.delete(file);
    // It was not built, or it ended outside of a test.
    const own: TestEvent[] =
      status === 'failed' && !failing.has(file)
        ? [{ event: 'end', file, name: '(the package)', status, ms, message }]
        : [];
    return { events: [...own, { event: 'file', file }] };
  };
}

/** `a/b/c`: `a/b` and `a`. */
function parentsOf(test: string): string[] {
  const parts = test.split('/');
  return parts.slice(1).map((_part, index) => parts.slice(0, index + 1).join('/'));
}

function parse(line: string): GoEvent | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const event = JSON.parse(line) as GoEvent;
    return typeof event.Action === 'string' ? event : undefined;
  } catch {
    return undefined;
  }
}
