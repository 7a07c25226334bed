import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { PipelineProject } from '../pipelines/support.js';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import type { WireClient } from '../support/mcp.js';
import { call, start, statusesAt } from './support.js';

jest.setTimeout(PROCESSES_MS);

const PIPELINES = {
  each: `
description: Runs a job for each item, and one that is skipped.
inputs:
  properties:
    items: { type: array, items: { type: string } }
  required: [items]
jobs:
  measure:
    for-each: items
    steps:
      - run: |
          test "$LONGHAUL_ITEM" != bad
  after:
    needs: measure
    steps:
      - run: 'true'
`,
};

let project: PipelineProject;
let client: WireClient;
beforeAll(async () => {
  project = await PipelineProject.shared(PIPELINES);
  client = project.client.with({});
});
afterAll(() => project?.stop());

test.each([
  [['good', 'fine'], 'completed', ['completed', 'completed', 'completed']],
  [['good', 'bad'], 'failed', ['completed', 'failed', 'skipped']],
])(
  'a pipeline has ended when the statuses of all its parts are terminal: %j',
  async (items, end, statuses) => {
    const { token, next_action: first } = await start(client, 'each', { items });
    expect(first).toMatchObject({ args: { token }, status_path: 'status' });
    expect(first.args).not.toHaveProperty('view');
    const whole = async () =>
      (await call(client, 'operation_get', { token, view: 'full' })).structuredContent;
    const { next_action: next, children } = await whole();
    expect(next).toMatchObject({ args: { token, view: 'full' }, status_path: 'children[*].status' });
    expect(children.length).toBeGreaterThan(0);
    const isTerminal = (status: string) => next.terminal_statuses.includes(status);
    const done = await eventually('all are terminal', async () => {
      const structuredContent = await whole();
      const seen = statusesAt(structuredContent, next.status_path);
      // Clients stop polling when all are terminal, so none may change afterwards.
      if (!seen.every(isTerminal)) return undefined;
      expect(seen.length).toBeGreaterThan(0);
      return structuredContent;
    });
    expect(done).toMatchObject({ token, status: end });
    expect(statusesAt(done, next.status_path).sort()).toEqual(statuses.sort());
  },
);
