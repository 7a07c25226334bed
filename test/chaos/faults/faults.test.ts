/** Each fault happens, and ends. Those of the disk need root, for a tmpfs. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { eventually } from '../../stack/cli-process.js';
import { temporaryFolder } from '../../support/for-all-tests.js';
import { INSTALL_MS } from '../../support/limits.js';
import { Clock } from './clock.js';
import { Disk } from './disk.js';
import { Links } from './links.js';
import { pause } from './pause.js';

jest.setTimeout(INSTALL_MS);

let folder: string;
const started: ChildProcess[] = [];
beforeEach(() => {
  folder = temporaryFolder('faults');
});
afterEach(() => started.splice(0).forEach((child) => child.kill('SIGKILL')));

function startNode(script: string, environment: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, ['-e', script], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(child);
  return child;
}

test("a process sees its date jump ahead, back and home again, while its timers and the others' clocks stay real", async () => {
  const clock = await Clock.create(folder);
  const child = startNode(
    'setInterval(() => console.log(JSON.stringify([Date.now(), performance.now()])), 100)',
    clock.environment,
  );
  const lines: { aheadSeconds: number; monotonicMs: number; atMs: number }[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [date, monotonicMs] = JSON.parse(line) as [number, number];
    const aheadSeconds = Math.round((date - Date.now()) / 1000);
    lines.push({ aheadSeconds, monotonicMs, atMs: performance.now() });
  });
  for (const seconds of [0, 3600, -7200, 90, 0]) {
    clock.jump(seconds);
    await eventually(`it is ${seconds} s ahead`, () => lines.at(-1)?.aheadSeconds === seconds);
  }
  const [first, last] = [lines[0]!, lines.at(-1)!];
  const monotonicMs = last.monotonicMs - first.monotonicMs;
  expect(Math.abs(monotonicMs - (last.atMs - first.atMs))).toBeLessThan(1_000);
});

test('a paused process does nothing, and continues afterwards; one that is gone is no error', async () => {
  const child = startNode('setInterval(() => process.stdout.write("."), 20)');
  let beats = 0;
  child.stdout.on('data', (chunk: Buffer) => (beats += chunk.length));
  await eventually('it works', () => beats > 5);
  const paused = pause(child.pid!, 1_500);
  // State of a process in proc(5): `T` is stopped.
  await eventually('it is stopped', () => / T /.test(readFileSync(`/proc/${child.pid}/stat`, 'utf8')));
  const before = beats;
  await paused;
  expect(beats - before).toBeLessThan(10);
  await eventually('it works again', () => beats > before + 10);
  child.kill('SIGKILL');
  await once(child, 'close');
  await pause(child.pid!, 10);
});

test('a full disk takes no byte, neither of a new file nor of one that is there, until it is freed; unmount ends it', async () => {
  const noRoom = expect.objectContaining({ code: 'ENOSPC' });
  const disk = await Disk.mount(join(folder, 'disk'), 8);
  const before = join(disk.path, 'before');
  try {
    writeFileSync(before, 'x'.repeat(4096));
    disk.fill();
    expect(() => writeFileSync(join(disk.path, 'new'), 'x')).toThrow(noRoom);
    expect(() => writeFileSync(before, 'x', { flag: 'a' })).toThrow(noRoom);
    expect(readFileSync(before, 'utf8')).toBe('x'.repeat(4096));
    disk.free();
    writeFileSync(join(disk.path, 'new'), 'x'.repeat(1024 * 1024));
  } finally {
    disk.unmount();
  }
  expect(existsSync(before)).toBe(false);
});

describe('a link', () => {
  let links: Links;
  let port: number;
  let echo: Server;
  beforeAll(async () => {
    echo = createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0, '127.0.0.1');
    await once(echo, 'listening');
    links = await Links.start();
    port = await links.open('echo', (echo.address() as AddressInfo).port);
  });
  beforeEach(() => links.heal('echo'));
  afterAll(async () => {
    await links?.stop();
    echo.close();
  });

  class Connection {
    received = 0;
    isClosed = false;

    private constructor(readonly socket: Socket) {
      socket.on('data', (chunk) => (this.received += chunk.length));
      socket.on('error', () => undefined);
      socket.once('close', () => (this.isClosed = true));
    }

    static async open(): Promise<Connection> {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      return new Connection(socket);
    }

    /** @returns how long the bytes took there and back, in milliseconds */
    async exchange(bytes: number): Promise<number> {
      const from = performance.now();
      const expected = this.received + bytes;
      this.socket.write(Buffer.alloc(bytes));
      await eventually(`${bytes} bytes came back`, () => this.received >= expected);
      return performance.now() - from;
    }
  }

  test('that is cut refuses connections and closes open ones; healed, it accepts them on the same port', async () => {
    const connection = await Connection.open();
    await connection.exchange(10);
    await links.fault('echo', 'cut');
    await eventually('the connection is closed', () => connection.isClosed);
    await expect(Connection.open()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await links.heal('echo');
    await (await Connection.open()).exchange(10);
  });

  test('that drops swallows data of connections that stay open until it is healed', async () => {
    const before = await Connection.open();
    await before.exchange(10);
    await links.fault('echo', 'drop');
    const during = await Connection.open();
    for (const { socket } of [before, during]) socket.write('lost');
    await links.heal('echo');
    await eventually('both are closed', () => before.isClosed && during.isClosed);
    expect([before.received, during.received]).toEqual([10, 0]);
    await (await Connection.open()).exchange(10);
  });

  test.each([
    ['delays makes exchanges late', 'delay', 10, 199],
    ['throttles lets data pass slowly', 'throttle', 48_000, 2_500],
  ] as const)('that %s, over a connection that stays open', async (_what, fault, bytes, leastMs) => {
    const connection = await Connection.open();
    await links.fault('echo', fault);
    expect(await connection.exchange(bytes)).toBeGreaterThanOrEqual(leastMs);
    await links.heal('echo');
    await connection.exchange(bytes);
  });
});
