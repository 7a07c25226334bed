import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { resolve } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { TestHome } from '../stack/cli-process.js';
import { STACK_MS } from '../support/limits.js';
import { extTasks, officialClient } from './drivers.js';
import { closeClients, DATA_FOLDERS, expectMainResult } from './support.js';

jest.setTimeout(STACK_MS);

let home: TestHome;
beforeAll(async () => {
  home = await TestHome.create();
  await home.up(DATA_FOLDERS);
});
afterEach(closeClients);
afterAll(() => home?.remove());

/** Each is a server process of its own. */
const stdio = () =>
  new StdioClientTransport({
    command: process.execPath,
    args: [resolve('dist/bin/longhaul.js'), 'stdio', '--home', home.path],
    env: { PATH: process.env['PATH']!, HOME: process.env['HOME']! },
    stderr: 'ignore',
  });

describe.each([
  ['the official client', officialClient],
  ['ext-tasks', extTasks],
])('over stdio, %s', (_name, { drive, collect }) => {
  test('drives the main job to its end, and collects it again from another process', async () => {
    const { client, reference, result } = await drive(stdio());
    await expectMainResult(result, client);

    const second = await collect(stdio(), reference);
    expect(second.structuredContent).toEqual(result.structuredContent);
    await expectMainResult(second, second.client);
  });
});
