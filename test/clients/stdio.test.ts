import { afterEach, expect, test } from '@jest/globals';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { forAllTests } from '../support/for-all-tests.js';
import { StdioServers } from '../support/stdio-servers.js';
import { extTasks } from './drivers.js';
import { closeClients, expectMainResult } from './support.js';

const shared = await forAllTests(StdioServers.open());
afterEach(closeClients);

/** Each is a server process of its own. */
const stdio = () => new StdioClientTransport({ ...shared.server, stderr: 'ignore' });

test('over stdio, ext-tasks drives the main job to its end, and collects it again from another process', async () => {
  const { client, reference, result } = await extTasks.drive(stdio());
  await expectMainResult(result, client);

  const second = await extTasks.collect(stdio(), reference);
  expect(second.structuredContent).toEqual(result.structuredContent);
  await expectMainResult(second, second.client);
});
