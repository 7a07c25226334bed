import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ChunkedLog } from '../../platform/storage/chunked-log.js';
import { stepLogPrefix } from '../../platform/storage/keys.js';
import type { Storage } from '../../platform/storage/index.js';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { StepHome } from './steps-support.js';

jest.setTimeout(PROCESSES_MS);
let home: StepHome;

beforeEach(async () => {
  home = await StepHome.open();
});
afterEach(() => home.removeClean());

const SECRET = { secrets: ['KEY'] };
const environment = { ...process.env, LONGHAUL_SECRET_KEY: 'top-secret-value' };

describe('the log of a step', () => {
  test('takes 100 MB while memory stays flat', async () => {
    let peak = 0;
    const before = process.memoryUsage.rss();
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 50);
    try {
      await home.run('yes "a line of a long log, 40 characters long" | head -c 100000000 || true');
    } finally {
      clearInterval(watch);
    }
    const log = new ChunkedLog(home.storage, stepLogPrefix(home.workflowId, 'build', 1));
    expect(await log.size()).toBe(100_000_000);
    expect(peak - before).toBeLessThan(80_000_000);
  });

  test('ends at its limit with a line that says so, and the step continues', async () => {
    const done = await home.run(
      'yes | head -c 5000000 || true; echo done=yes >>"$LONGHAUL_OUTPUT"',
      {},
      { logLimitBytes: 1000 },
    );
    expect(done.outputs).toEqual({ done: 'yes' });
    expect(home.log()).toHaveLength(
      1000 + '\n--- the log has reached its limit of 1000 bytes: the rest is dropped\n'.length,
    );
    expect(home.log()).toMatch(/limit of 1000 bytes: the rest is dropped\n$/);
  });

  test('keeps binary as it is, and shows its last lines without control characters', async () => {
    const failed = await home.failed(
      `printf 'a\\000b\\377\\n'; printf '\\033[31mred\\033[0m\\n'; printf '10%%\\r20%%\\r99%%\\n'; exit 3`,
    );
    expect(failed.trouble).toEqual({ exitCode: 3, outputs: {}, lastLines: ['ab\ufffd', 'red', '99%'] });
  });

  test('reports its last whole line, masked and shortened', async () => {
    const stop = new AbortController();
    const script = `printf 'key %s\\n' "$KEY"; sleep 0.5; printf '%0300d\\nnot whole' 7; sleep 60`;
    const running = home.failed(script, SECRET, { stop: stop.signal, environment });
    await eventually('the second line is reported', () => home.lines.length >= 2);
    expect(home.lines).toEqual(['key ***', '0'.repeat(200)]);
    stop.abort('canceled');
    await running;
  });

  test('holds no secret: not in pieces, not in outputs, not in the failure', async () => {
    const script = `
      printf 'top-se'; sleep 0.4; printf 'cret-value\\n'
      printf 'top-\\033[0msecret-value\\n'
      echo "url=https://x/?k=$KEY" >>"$LONGHAUL_OUTPUT"
      exit 4`;
    const failed = await home.failed(script, SECRET, { environment });
    expect(failed.trouble).toEqual({
      exitCode: 4,
      outputs: { url: 'https://x/?k=***' },
      lastLines: ['***', '***'],
    });
    expect(home.log()).not.toContain('top-secret-value');
  });

  test('shows at most 50 lines and 8 KiB of its end in a failure', async () => {
    const many = await home.failed('seq 1 1000; exit 1');
    expect(many.trouble.lastLines).toEqual(Array.from({ length: 50 }, (_, at) => String(951 + at)));
    const long = await home.failed('for i in 1 2 3; do printf "%05000d\\n" $i; done; exit 1', { step: 2 });
    expect(Buffer.byteLength(long.trouble.lastLines.join('\n'))).toBeLessThanOrEqual(8192);
    expect(long.trouble.lastLines.at(-1)).toHaveLength(5000);
  });

  test('that cannot be written ends the step, which says why', async () => {
    const storage: Storage = {
      ...home.storage,
      create: async () => {
        throw Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO' });
      },
    };
    const failed = await home.failed('while :; do echo more; sleep 0.1; done', {}, { storage });
    expect(failed).toMatchObject({ type: 'StepLogLost', nonRetryable: true });
    expect(failed.message).toBe(`step "compile" was ended: its log can't be written: EIO: i/o error, write`);
    expect(failed.trouble.lastLines).toContain('more');
  });

  test('stores once what was stored though its append failed', async () => {
    let failures = 0;
    const lossy: Storage = {
      ...home.storage,
      create: async (key, bytes) => {
        const isCreated = await home.storage.create(key, bytes);
        if ((failures += 1) > 2) return isCreated;
        throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
      },
    };
    await home.run('seq 1 1000', {}, { storage: lossy });
    expect(failures).toBeGreaterThan(2);
    expect(home.log()).toBe(Array.from({ length: 1000 }, (_, at) => `${at + 1}\n`).join(''));
  });

  test('continues with the next attempt after a line that separates them', async () => {
    await home.failed('printf "first, no end of line"; exit 1');
    await home.failed('echo second; exit 2', {}, { attempt: 2 });
    expect(home.log()).toMatch(
      /^first, no end of line\n--- attempt 2, \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\nsecond\n$/,
    );
  });
});
