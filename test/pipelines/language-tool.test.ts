import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { check } from '../../operations/tool/schema.js';
import { assertClientToken, workflowIdOf } from '../../operations/token.js';
import { LONGEST_WORKFLOW_ID, pageWorkflowId } from '../../pipelines/parts.js';
import { pipelineTool } from '../../pipelines/tool.js';
import { JOBS, pipelineOf } from './language-support.js';

const pipeline = pipelineOf(`
name: deploy
description: Deploys the site.
inputs:
  properties:
    version: { type: string }
    regions: { type: array, items: { type: string } }
  required: [version]
outputs:
  url: { value: build.url, description: Where it is. }
  seconds: { value: roll-out.seconds, type: number }
timeout-minutes: 90
estimate-minutes: 5
jobs:
  build: { outputs: [url], steps: [{ run: make }] }
  roll-out: { for-each: regions, needs: build, outputs: [seconds], steps: [{ run: ./deploy }] }
`);

test('a pipeline is a tool of its name, and says what it does, returns and takes', () => {
  const tool = pipelineTool(pipeline);
  expect(tool).toMatchObject({
    name: 'deploy',
    workflow: 'pipeline',
    isPipeline: true,
    taskSupport: 'optional',
    deadlineSeconds: 90 * 60,
    inputSchema: pipeline.inputs,
  });
  expect(tool.description.split('\n')).toEqual([
    'Deploys the site.',
    'Returns: url: Where it is; seconds (a list).',
    'Usually takes about 300 s, at most 5400 s.',
    'On cancel or time-out: running steps are ended, then steps with `if: always` run; finished jobs and artifacts stay.',
  ]);
  expect(tool.example).toEqual({ input: { version: 'text' }, output: { url: 'text', seconds: [] } });
});

test('how long it takes is only said if its file says so', () => {
  const { description, estimate } = pipelineTool(pipelineOf(JOBS));
  expect(description).toContain('\nTakes at most 86400 s');
  expect(estimate).toEqual({ seconds: 60 });
});

test('misspelt arguments are refused, whether there are inputs or none', () => {
  expect(check(pipelineTool(pipeline).inputSchema, { version: '1', verison: '2' }, 'arguments')).toEqual([
    'arguments.verison: unknown; remove it',
  ]);
  expect(check(pipelineTool(pipelineOf(JOBS)).inputSchema, { a: 1 }, 'arguments')).toHaveLength(1);
});

test('its workflow gets the whole pipeline beside the arguments', () => {
  expect(pipelineTool(pipeline).toWorkflowArguments({ version: '1' })).toEqual([
    { pipeline, inputs: { version: '1' } },
  ]);
});

test('outputs have their types, those of for-each are lists, and none has to be there', () => {
  const schema = pipelineTool(pipeline).outputSchema!;
  expect(check(schema, {}, 'result')).toEqual([]);
  expect(check(schema, { url: 'https://example.org', seconds: [1.5, null] }, 'result')).toEqual([]);
  expect(check(schema, { url: 3 }, 'result')).toEqual(['result.url: expected string; got 3']);
  expect(check(schema, { seconds: 3 }, 'result')).toEqual(['result.seconds: expected array; got 3']);
});

test('the result reads well as text; a long value is shortened', () => {
  const { toText } = pipelineTool(pipeline);
  expect(toText({ url: 'https://example.org', seconds: [] })).toBe('url: https://example.org\nseconds: []');
  expect(toText({ url: 'one\ntwo' })).toBe('url:\n  one\n  two');
  expect(toText({ url: 'x'.repeat(5000) })).toBe(`url: ${'x'.repeat(2000)}... (5000 characters in all)`);
  expect(toText({})).toBe('deploy is done.');
});

test("the longest token makes a workflow ID that PostgreSQL keeps, and so do the pipeline's pages", () => {
  const longest = 'a'.repeat(232);
  expect(() => assertClientToken(longest)).not.toThrow();
  expect(() => assertClientToken(`${longest}a`)).toThrow('expected 1 to 232 ');
  const parent = workflowIdOf('somebody', longest, randomBytes(32));
  const names = ['each[0-249]', 'each[250-499]', `${'j'.repeat(64)}[0-249]`];
  const ids = [parent, ...names.map((name) => pageWorkflowId(parent, name))];
  expect(ids.map(({ length }) => length)).toEqual(ids.map(() => LONGEST_WORKFLOW_ID));
  expect(new Set(ids).size).toBe(ids.length);
  expect(pageWorkflowId('token', 'each[0-249]')).toBe('token/each[0-249]');
});
