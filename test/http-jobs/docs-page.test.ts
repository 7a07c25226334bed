/** Runs the commands of docs/http-jobs.md as written. `LONGHAUL_RECORD=1` regenerates its table. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PROBLEM_TABLE } from '../../mcp-server/http-jobs/rendering/openapi.js';
import { temporaryFolder } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';

const PAGE = 'docs/http-jobs.md';
const [BEGIN, END] = [
  '<!-- problems: made from mcp-server/http-jobs/rendering/problems.ts -->',
  '<!-- end of problems -->',
];
const page = () => readFileSync(PAGE, 'utf8');

describe('the ten minutes', () => {
  let parts: TestStack;
  const folder = temporaryFolder('http-reader');
  beforeAll(async () => {
    parts = await TestStack.shared();
  });
  afterAll(async () => {
    await parts?.stop();
  });

  test('kickoff, poll and result answer what the page shows', async () => {
    const [, section] = /## Ten minutes\n([^]*?)\n## /.exec(page())!;
    const steps = [...section!.matchAll(/```sh\n([^]*?)```\n[^]*?```http\n([^]*?)```/g)];
    expect(steps).toHaveLength(3);
    const script = steps.map(([, command]) => `${command}\nprintf '\\n=====\\n'\n`).join('');
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: folder,
      env: { ...process.env, LONGHAUL: parts.base },
      timeout: 120_000,
    });
    const answers = stdout.split('\n=====\n');
    for (const [at, [, , shown]] of steps.entries()) {
      const [wanted, got] = [messageOf(shown!), messageOf(answers[at]!)];
      expect(got.line).toBe(wanted.line);
      for (const [name, value] of Object.entries(wanted.headers))
        expect({ [name]: got.headers[name] }).toEqual({ [name]: like(value) });
      expect(got.body).toEqual(like(wanted.body));
    }
  });
});

interface Message {
  line: string;
  headers: Record<string, string>;
  body: unknown;
}

function messageOf(text: string): Message {
  const [head, ...body] = text.replaceAll('\r', '').trim().split('\n\n');
  const [line = '', ...headers] = head!.split('\n');
  const named = headers.map((one) => /^([^:]+): (.*)$/.exec(one)!);
  return {
    line,
    headers: Object.fromEntries(named.map(([, name, value]) => [name!.toLowerCase(), value!])),
    body: JSON.parse(body.join('\n\n')),
  };
}

/** Estimates depend on past runs, so they differ between readers. */
const ESTIMATES = new Set(['estimated_duration_seconds']);

/** Matcher for a value of the page; IDs, times and progress, which differ between readers, match any. */
function like(value: unknown): any {
  if (Array.isArray(value)) return value.map(like);
  if (typeof value === 'object' && value !== null)
    return expect.objectContaining(
      Object.fromEntries(
        Object.entries(value).map(([key, one]) => [key, ESTIMATES.has(key) ? expect.any(Number) : like(one)]),
      ),
    );
  if (typeof value !== 'string') return value;
  if (value === 'queued' || value === 'running') return expect.stringMatching(/^(queued|running)$/);
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
  const id = /\b[0-9a-f]{32}\b/;
  if (!id.test(value)) return value;
  const [before, after] = value.split(id) as [string, string];
  return expect.stringMatching(new RegExp(`^${before}[\\w.~-]+${after}$`));
}

describe('the table of problems', () => {
  const table = () => {
    const rows = PROBLEM_TABLE.map(({ type, status, retryable, title, advice }) => [
      `\`${type}\``,
      String(status),
      retryable ? 'yes' : 'no',
      `${title}. ${advice}`,
    ]);
    const all = [['type', 'status', 'retryable', 'what it means, and what to do'], ...rows];
    const widths = all[0]!.map((_, at) => Math.max(...all.map((row) => row[at]!.length)));
    const line = (cells: string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`;
    return [line(all[0]!), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
  };
  /** Text before, between and after the markers. */
  const parts = () => {
    const text = page();
    const [from, to] = [text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END)];
    return [text.slice(0, from), text.slice(from, to), text.slice(to)] as const;
  };
  beforeAll(() => {
    if (!process.env['LONGHAUL_RECORD']) return;
    const [before, , after] = parts();
    writeFileSync(PAGE, `${before}\n\n${table()}\n\n${after}`);
  });

  test('is that of the server', () => {
    expect(parts()[1].trim()).toBe(table());
  });
});

test('the rates on the page are the defaults', async () => {
  const { loadSettings } = await import('../../platform/settings/index.js');
  const ratesOf = async (flags: object) => {
    const { kickoffsPerMinute, statusPerMinute } = await loadSettings(flags, {});
    return [kickoffsPerMinute, statusPerMinute] as const;
  };
  const [kickoffs, looks] = await ratesOf({ authentication: 'keys' });
  expect(page()).toContain(`With authentication, each caller has ${kickoffs} kickoffs,`);
  expect(page()).toContain(`and ${looks.toLocaleString('en')} looks`);
  expect(page()).toContain('without, 100 times as many');
  expect(await ratesOf({})).toEqual([100 * kickoffs, 100 * looks]);
});
