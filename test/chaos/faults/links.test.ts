import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { eventually } from '../../stack/cli-process.js';
import { INSTALL_MS } from '../../support/limits.js';
import { Links } from './links.js';

jest.setTimeout(INSTALL_MS);

let links: Links;
let port: number;
let echo: Server;
/** Connections that the server behind the link has accepted. */
let accepted = 0;
beforeAll(async () => {
  echo = createServer((socket) => {
    accepted += 1;
    socket.on('error', () => undefined);
    socket.pipe(socket);
  }).listen(0, '127.0.0.1');
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

test('cut refuses connections and closes open ones; after heal they are accepted on the same port', async () => {
  const connection = await Connection.open();
  await connection.exchange(10);
  await links.fault('echo', 'cut');
  await eventually('the connection is closed', () => connection.isClosed);
  await expect(Connection.open()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await links.heal('echo');
  await (await Connection.open()).exchange(10);
});

test('drop swallows data of connections that stay open, also of new ones; heal closes them', async () => {
  const before = await Connection.open();
  await before.exchange(10);
  await links.fault('echo', 'drop');
  const during = await Connection.open();
  for (const { socket } of [before, during]) socket.write('lost');
  await delay(1_000);
  expect([before, during].map(({ received, isClosed }) => ({ received, isClosed }))).toEqual([
    { received: 10, isClosed: false },
    { received: 0, isClosed: false },
  ]);
  await links.heal('echo');
  await eventually('both are closed', () => before.isClosed && during.isClosed);
  await (await Connection.open()).exchange(10);
});

test('delay makes every exchange late, within its bounds, and loses nothing', async () => {
  await links.fault('echo', 'delay');
  const connection = await Connection.open();
  for (let count = 0; count < 5; count += 1) {
    const tookMs = await connection.exchange(1_000);
    expect(tookMs).toBeGreaterThanOrEqual(199);
  }
  await links.heal('echo');
  const tookMs = await Promise.all(
    Array.from({ length: 5 }, async () => (await Connection.open()).exchange(10)),
  );
  expect(Math.min(...tookMs)).toBeLessThan(199);
  await connection.exchange(10);
});

test('throttle lets data pass slowly, over a connection that stays open and is fast again after heal', async () => {
  const connection = await Connection.open();
  await links.fault('echo', 'throttle');
  const slowMs = await connection.exchange(48_000);
  expect(slowMs).toBeGreaterThan(2_500);
  await links.heal('echo');
  expect(await connection.exchange(48_000)).toBeLessThan(slowMs / 2);
});

test('a fault replaces the one before, and leaves other links alone', async () => {
  const otherPort = await links.open('other', (echo.address() as AddressInfo).port);
  await links.fault('echo', 'throttle');
  await links.fault('echo', 'cut');
  await expect(Connection.open()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  const before = accepted;
  const other = connect(otherPort, '127.0.0.1');
  await eventually('the other link is open', () => accepted > before);
  other.destroy();
  await links.heal('echo');
  const connection = await Connection.open();
  expect(await connection.exchange(48_000)).toBeLessThan(2_000);
});

test('a name that was not opened is refused', async () => {
  await expect(links.fault('nowhere', 'cut')).rejects.toThrow('no link "nowhere"');
});
