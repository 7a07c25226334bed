/** Workflow IDs of operations and of a pipeline's pages, under the longest tokens. */
import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { LONGEST_WORKFLOW_ID, pageWorkflowId } from '../../pipelines/parts.js';
import { assertClientToken, workflowIdOf } from '../../operations/token.js';

const LONGEST_TOKEN = 'a'.repeat(232);

test("the longest token of any caller's own makes a workflow ID that PostgreSQL keeps", () => {
  expect(() => assertClientToken(LONGEST_TOKEN)).not.toThrow();
  expect(() => assertClientToken(`${LONGEST_TOKEN}a`)).toThrow('expected 1 to 232 ');
  expect(workflowIdOf('somebody', LONGEST_TOKEN, randomBytes(32))).toHaveLength(LONGEST_WORKFLOW_ID);
});

test('so do the pages of its pipeline, each with an ID of its own', () => {
  const parent = workflowIdOf('somebody', LONGEST_TOKEN, randomBytes(32));
  const names = ['each[0-249]', 'each[250-499]', `${'j'.repeat(64)}[0-249]`];
  const ids = names.map((name) => pageWorkflowId(parent, name));
  for (const id of ids) expect(id).toHaveLength(LONGEST_WORKFLOW_ID);
  expect(new Set(ids).size).toBe(names.length);
  expect(pageWorkflowId('token', 'each[0-249]')).toBe('token/each[0-249]');
});
