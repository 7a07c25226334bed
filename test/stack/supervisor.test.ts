/** A stack under `longhaul up`: it serves, starts its parts again, and is alone on its home until `longhaul down`. */
import { getPriority } from 'node:os';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { PROCESSES_MS, STACK_MS } from '../support/limits.js';
import { eventually, isRunning, kill, TestHome, type CommandRun } from './cli-process.js';

jest.setTimeout(STACK_MS);

let home: TestHome;

describe('a stack that runs', () => {
  let run: CommandRun;
  beforeAll(async () => {
    home = await TestHome.create();
    run = await home.up();
  });
  afterAll(() => home.remove());

  test('up serves, and says where and how to add it to a client', async () => {
    expect(await home.isReady()).toBe(true);
    expect(run.stdout()).toContain(`${home.url}/mcp`);
    expect(run.stdout()).toContain(`claude mcp add --transport http longhaul ${home.url}/mcp`);
    expect(run.stdout()).toContain('code --add-mcp');
    expect(run.stdout()).toContain('.cursor/mcp.json');
    expect(run.stdout()).toContain(home.state().temporalUiUrl);
    expect(home.state()).toMatchObject({
      temporalAddress: `127.0.0.1:${home.temporalPort}`,
      mcpUrl: `${home.url}/mcp`,
      supervisorPid: run.pid,
    });
  });

  test('a second up on the same home is refused, naming the one that runs', async () => {
    const second = home.run(['up']);
    expect(await second.ended).toBe(1);
    expect(second.stderr()).toContain(`${home.url}/mcp`);
    expect(second.stderr()).toContain(`PID ${run.pid}`);
    expect(second.stderr().trim().split('\n')).toHaveLength(1);
    expect(await home.isReady()).toBe(true);
  });

  test('starts and reads of operations come before work: the worker has the lowest priority', async () => {
    const { temporal, server, worker } = home.parts();
    expect(getPriority(worker)).toBeGreaterThan(getPriority(server));
    expect(getPriority(temporal)).toBe(getPriority(server));
  });

  test('a killed worker, server or Temporal is started again, on the same ports', async () => {
    for (const part of ['worker', 'server', 'temporal'] as const) {
      const pid = home.parts()[part];
      kill(pid);
      const next = await eventually(`another ${part}`, () => {
        const now = home.parts()[part];
        return now !== pid && isRunning(now) && now;
      });
      expect(isRunning(pid)).toBe(false);
      expect(next).not.toBe(pid);
    }
    await eventually('ready again', () => home.isReady());
    expect(home.state().temporalAddress).toBe(`127.0.0.1:${home.temporalPort}`);
  });
});

describe('the end of a stack', () => {
  beforeEach(async () => {
    home = await TestHome.create();
  });
  afterEach(() => home.remove());

  test('kill -9 of the supervisor leaves nothing running, and the next up starts cleanly, also without a reader', async () => {
    const run = await home.up();
    const pids = Object.values(home.parts());
    kill(run.pid);
    await eventually('nothing runs', () => !pids.some(isRunning));
    const next = home.run(['up']);
    next.process.stdout!.destroy();
    await eventually('it is ready', () => home.isReady(), PROCESSES_MS);
    expect(await home.run(['down']).ended).toBe(0);
    expect(await next.ended).toBe(0);
  });

  test('down ends the stack; with none running it says so', async () => {
    const run = await home.up();
    const pids = Object.values(home.parts());
    const down = home.run(['down']);
    expect(await down.ended).toBe(0);
    expect(down.stdout()).toContain(`Ended the stack on ${home.path} (PID ${run.pid})`);
    expect(await run.ended).toBe(0);
    expect(pids.filter(isRunning)).toEqual([]);
    const again = home.run(['down']);
    expect(await again.ended).toBe(0);
    expect(again.stdout()).toContain('No stack is running');
  });
});
