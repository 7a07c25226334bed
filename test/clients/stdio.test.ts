import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { STACK_MS } from '../support/limits.js';
import { StdioServers } from '../support/stdio-servers.js';
import { extTasks } from './drivers.js';
import { closeClients, expectMainResult } from './support.js';

jest.setTimeout(STACK_MS);

let shared: StdioServers;
beforeAll(async () => {
  shared = await StdioServers.open();
});
afterEach(closeClients);
afterAll(() => shared?.stop());

/** Each is a server process of its own. */
const stdio = () => new StdioClientTransport({ ...shared.server, stderr: 'ignore' });

test('over stdio, ext-tasks drives the main job to its end, and collects it again from another process', async () => {
  const { client, reference, result } = await extTasks.drive(stdio());
  await expectMainResult(result, client);

  const second = await extTasks.collect(stdio(), reference);
  expect(second.structuredContent).toEqual(result.structuredContent);
  await expectMainResult(second, second.client);
});
