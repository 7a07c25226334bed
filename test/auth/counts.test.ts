/** Counting of rates, open requests and open operations. */
import { EventEmitter } from 'node:events';
import type { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { limitConnections } from '../../mcp-server/http/listener.js';
import { OpenOperations } from '../../mcp-server/limits/index.js';
import { OpenRequests } from '../../mcp-server/limits/open-requests.js';
import { RateLimited, Rates } from '../../mcp-server/limits/rates.js';
import { loadSettings } from '../../platform/settings/index.js';
import { createLogger } from '../../platform/observe/log.js';

const settings = (given: Parameters<typeof loadSettings>[0] = {}, authentication = 'keys') =>
  loadSettings({ authentication, ...given }, {}, '/');

test('rates count for each principal', async () => {
  const rates = new Rates(await settings({ kickoffsPerMinute: 2 }));
  expect(await rates.count('kickoff', 'a/a')).toMatchObject({ limit: 2, remaining: 1 });
  await rates.count('kickoff', 'a/a');
  const own = await rates.count('kickoff', 'a/a').catch((error: unknown) => error as RateLimited);
  expect(own).toBeInstanceOf(RateLimited);
  expect(own).toMatchObject({ kind: 'rate_limited', retryable: true, quota: { remaining: 0 } });
  expect((own as RateLimited).retryAfterSeconds).toBeGreaterThan(50);
  expect((own as RateLimited).message).toMatch(
    /^kickoff: expected at most 2 requests for each caller in 60 s; got more; try again in \d+ s$/,
  );
  await rates.count('kickoff', 'a/b');
  await rates.count('status', 'a/a');
});

test('open requests end once', async () => {
  const requests = new OpenRequests(await settings({ maxOpenRequests: 2 }), 3);
  const [close] = [requests.open('a/a'), requests.open('a/a')];
  expect(() => requests.open('a/a')).toThrow(
    'expected at most 2 open requests, waits and streams for each caller',
  );
  requests.open('a/b');
  expect(() => requests.open('a/c')).toThrow(
    'expected at most 3 open requests, waits and streams of all callers',
  );
  close();
  close();
  requests.open('a/c');
  expect(() => requests.open('a/c')).toThrow('of all callers');
});

test('connections count for each address, and for each /64 of IPv6', async () => {
  const server = new EventEmitter();
  const limited = await settings({ maxConnectionsPerAddress: 2 });
  limitConnections(server as Server, limited, createLogger('test', 'silent'));
  const connect = (remoteAddress: string) => {
    const socket = Object.assign(new EventEmitter(), { remoteAddress, isOpen: true });
    server.emit(
      'connection',
      Object.assign(socket, { destroy: () => Object.assign(socket, { isOpen: false }) }),
    );
    return socket;
  };
  const first = connect('2001:db8::1');
  expect(connect('2001:db8:0:0:ffff::2').isOpen).toBe(true);
  expect(connect('2001:db8::3').isOpen).toBe(false);
  expect(connect('2001:db8:0:1::1').isOpen).toBe(true);
  first.emit('close');
  expect(connect('2001:db8::3').isOpen).toBe(true);
  for (const isOpen of [true, true, false]) expect(connect('::ffff:192.0.2.1').isOpen).toBe(isOpen);
  expect(connect('192.0.2.1').isOpen).toBe(false);
});

describe('open operations', () => {
  /** A visibility with a number of open operations. */
  class Visibility {
    open = 0;
    calls = 0;
    count = async (principal: string) => {
      this.calls += 1;
      await sleep(1);
      return principal === 'a/a' ? this.open : 0;
    };
  }
  const start = async (operations: OpenOperations, of: Visibility) => {
    const takeBack = await operations.admit('a/a');
    of.open += 1;
    return takeBack;
  };

  test('are counted once for many starts, and again before a refusal', async () => {
    const visibility = new Visibility();
    const operations = new OpenOperations(5, visibility.count, () => undefined);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => start(operations, visibility)),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    expect(visibility.calls).toBe(1);
    await expect(start(operations, visibility)).rejects.toThrow(
      'expected at most 5 open operations for each caller',
    );
    visibility.open = 4;
    await sleep(1_100);
    await start(operations, visibility);
    expect(visibility.calls).toBe(2);
    await expect(start(operations, visibility)).rejects.toThrow(RateLimited);
    // Another principal has its own.
    await operations.admit('a/b');
  });

  test('a start that failed is taken back', async () => {
    const operations = new OpenOperations(1, new Visibility().count, () => undefined);
    for (let time = 0; time < 5; time += 1) (await operations.admit('a/a'))();
    await operations.admit('a/a');
    await expect(operations.admit('a/a')).rejects.toThrow(RateLimited);
  });

  test('while nothing can be counted, starts are admitted and that is reported', async () => {
    const reasons: unknown[] = [];
    const failing = new OpenOperations(
      1,
      () => Promise.reject(new Error('down')),
      (one) => reasons.push(one),
    );
    await failing.admit('a/a');
    await failing.admit('a/a');
    expect(reasons).toHaveLength(2);
  });
});

test('the defaults are lower where there are several callers', async () => {
  expect(await settings()).toMatchObject({ kickoffsPerMinute: 600, maxOpenRequests: 1_000 });
  expect(await settings({}, '')).toMatchObject({ kickoffsPerMinute: 60_000, maxOpenRequests: 20_000 });
});
