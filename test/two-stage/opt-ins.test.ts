/** Discovery of the opt-ins by clients. */
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import * as current from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';

jest.setTimeout(PROCESSES_MS);

let parts: TestStack;
beforeAll(async () => {
  parts = await TestStack.shared();
});
afterAll(() => parts?.stop());

const CLIENT_INFO = { name: 'longhaul-tests', version: '1' };
const BOTH = { asyncTools: {}, twoStage: {} };

test.each(['2025-11-25', '2026-07-28'])(
  'the official client of %s is given both capabilities, and a line on each, without having opted in',
  async (revision) => {
    const url = new URL(parts.client.url);
    const isOlder = revision === '2025-11-25';
    const client = isOlder
      ? new LegacyClient(CLIENT_INFO)
      : new current.Client(CLIENT_INFO, { versionNegotiation: { mode: 'auto' } });
    const transport = isOlder
      ? new StreamableHTTPClientTransport(url)
      : new current.StreamableHTTPClientTransport(url);
    await client.connect(transport);
    try {
      if ('getNegotiatedProtocolVersion' in client)
        expect(client.getNegotiatedProtocolVersion()).toBe(revision);
      expect(client.getServerCapabilities()?.experimental).toEqual(BOTH);
      const lines = client.getInstructions()!.split('\n');
      const naming = lines.filter((line) => line.includes('experimental.'));
      expect(naming).toEqual([expect.stringMatching(/experimental\.asyncTools.*experimental\.twoStage/)]);
      expect(naming[0]!.length).toBeLessThan(300);
      const { tools } = await client.listTools();
      const naming2 = tools.filter(({ description }) => description?.includes('experimental.'));
      expect(naming2.map(({ name }) => name)).toEqual(['operation_get']);
      expect(naming2[0]!.description).toMatch(/experimental\.asyncTools.*experimental\.twoStage/);
    } finally {
      await client.close();
    }
  },
);
