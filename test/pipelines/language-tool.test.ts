import { expect, test } from '@jest/globals';
import { envelopeOf } from '../../mcp-server/plain/envelope/index.js';
import { check } from '../../operations/tool/schema.js';
import { defineTool } from '../../operations/tool/index.js';
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

test('a tool whose workflow has another name is no pipeline: its operations have no children', () => {
  const defined = defineTool({
    name: 'adopted',
    description: { does: 'Works.' },
    input: { type: 'object', properties: {} },
    estimate: { seconds: 1 },
  });
  const tool = { ...defined, workflow: 'LegacyWorkflow' };
  expect(tool.isPipeline).toBe(false);
  const record = {
    ...{ token: 'T', runId: 'R', tool: tool.name, principal: 'anonymous', attempt: 1, live: false },
    ...{ createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z', keepAliveSeconds: 60 },
    status: 'working' as const,
    inputRequests: {},
  };
  expect(envelopeOf(record, { tool })).not.toHaveProperty('children');
  const asPipeline = { tool: pipelineTool(pipeline) };
  expect(envelopeOf(record, asPipeline)).toHaveProperty('children');
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
