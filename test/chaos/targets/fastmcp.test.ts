/** FastMCP as a target of chaos runs. Its packages and Redis are downloads, so it is tested by LONGHAUL_CHAOS_PEER alone. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { eventually, kill } from '../../stack/cli-process.js';
import { INSTALL_MS } from '../../support/limits.js';
import { WireClient } from '../../support/mcp.js';
import type { Running } from '../target.js';
import target from './fastmcp.js';

jest.setTimeout(INSTALL_MS);

(process.env['LONGHAUL_CHAOS_PEER'] ? describe : describe.skip)('FastMCP', () => {
  let folder: string;
  let running: Running;
  let client: WireClient;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'longhaul-fastmcp-'));
    running = await target.start({
      folder,
      ledger: join(folder, 'ledger'),
      clock: {},
      link: (_name, port) => Promise.resolve(port),
    });
    client = new WireClient(running.url);
  });
  afterEach(async () => {
    await running?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const ledger = () => join(folder, 'ledger');
  const linesOf = (name: string) =>
    existsSync(ledger())
      ? readFileSync(ledger(), 'utf8')
          .split('\n')
          .filter((line) => line.startsWith(`${name} `))
          .map((line) => line.split(' ').slice(1, 3).join(' '))
      : [];
  const startRole = (role: 'work' | 'asks' | 'fails' | 'long' | 'steps', name: string = role) => {
    const { tool, args } = target.tools[role];
    return client.start(tool, args({ name, ledger: ledger(), attempt: 1 }));
  };
  const ALL_PARTS = [1, 2, 3].flatMap((part) => [`${part} start`, `${part} done`]);

  test('its tools run to their ends', async () => {
    const [work, asks, fails, long, steps] = await Promise.all(
      (['work', 'asks', 'fails', 'long', 'steps'] as const).map((role) => startRole(role)),
    );
    await client.until(long!, (task) => /^unit \d+ of batch 2$/.test(task.statusMessage ?? ''));
    await client.request('tasks/cancel', { taskId: long });
    await client.until(long!, 'cancelled');
    const { inputRequests } = await client.until(asks!, 'input_required');
    const [key] = Object.keys(inputRequests);
    await client.answer(asks!, key!, { action: 'accept', content: { answer: 42 } });
    const answered = await client.until(asks!, 'completed');
    expect(answered.result.structuredContent).toEqual({ done: 3, answer: 42 });
    expect((await client.until(work!, 'completed')).result.structuredContent).toEqual({ done: 3 });
    expect((await client.until(fails!, 'completed')).result.isError).toBe(true);
    await client.until(steps!, 'completed');
    for (const role of ['work', 'asks', 'fails', 'steps'])
      expect([role, linesOf(role)]).toEqual([role, ALL_PARTS]);
    expect(linesOf('long')).not.toContain('3 start');
  });

  test('tasks of a killed worker run again', async () => {
    const names = Array.from({ length: 30 }, (_, at) => `steps-${at}`);
    const tasks = await Promise.all(names.map((name) => startRole('steps', name)));
    await eventually('all have begun', () => names.every((name) => linesOf(name).includes('2 start')));
    const { worker } = running.processes;
    kill(worker!.pid()!);
    for (const task of tasks) await client.until(task, 'completed');
    const again = names.filter((name) => linesOf(name).filter((line) => line === '1 start').length === 2);
    console.log(`${again.length} of ${names.length} tasks ran again`);
    expect(again.length).toBeGreaterThan(0);
    expect(again.length).toBeLessThan(names.length);
  });

  test('a task outlives a kill of Redis: its handle stays, and it ends', async () => {
    const task = await startRole('steps');
    await eventually('it has begun', () => linesOf('steps').includes('2 start'));
    kill(running.processes['redis']!.pid()!);
    const ended = await client.until(task, ({ status }) => status !== 'working');
    // As failed, when its worker stores the result over a connection from before the kill.
    expect(['completed', 'failed']).toContain(ended.status);
    expect(linesOf('steps').slice(-1)).toEqual(['3 done']);
    const later = await startRole('steps', 'later');
    await client.until(later, 'completed');
  });
});
