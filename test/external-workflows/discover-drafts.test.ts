/** Drafts of tools: each is valid as it is, says what it is made of, and holds no value of a run. */
import { describe, expect, test } from '@jest/globals';
import { draftOf, type Found } from '../../cli/discover/draft.js';
import { toolNameFor } from '../../cli/discover/names.js';
import { definitionsOf, Observed } from '../../cli/discover/observed.js';
import { chosenRuns, durationsOf, estimateMinutes, timeoutMinutes } from '../../cli/discover/runs.js';
import { inputsFor, outputFor } from '../../cli/discover/inputs.js';
import { decodePayload, SeenValues } from '../../cli/discover/seen-values.js';
import { addExample, emptyShape, schemaOf } from '../../cli/discover/shape.js';
import type { RunInfo } from '../../engine/list/current-runs.js';
import type { HistoryEvent } from '../../engine/read/history.js';
import { parseTool } from '../../external-workflows/parse.js';
import type { Tool } from '../../operations/tool/index.js';
import type { ParsedFile } from '../../pipelines/yaml/yaml-file.js';
import {
  completed,
  listed,
  payloadOf,
  payloadsOf,
  rawPayload,
  signaled,
  started,
  updated,
} from './discover-support.js';

const RUNNING = 1;
const FAILED = 3;
const CONTINUED = 6;
const SECRET = 'hunter2';
const SOURCE = {
  namespace: 'default',
  since: '2026-11-18T08:00:00Z',
  now: new Date('2026-11-25T08:00:00Z'),
  isLimited: false,
};

function foundOf(histories: HistoryEvent[][], change: (observed: Observed) => void = () => undefined): Found {
  const observed = new Observed();
  for (const events of histories) observed.addHistory(events);
  change(observed);
  return { type: 'RefundWorkflow', infos: [listed('a', [0, 180])], observed };
}

/** The draft's text, and its tool; it has to be valid. */
function drafted(found: Found, source: Partial<typeof SOURCE & { otherNamespace: string }> = {}) {
  const text = draftOf('refund', found, { ...SOURCE, ...source });
  const { value, problems } = parseTool(text, 'tools/refund.yaml') as ParsedFile<Tool>;
  expect([problems, text.includes(SECRET)]).toEqual([[], false]);
  return { text, tool: value! };
}

test('a draft has the types of inputs and result, the durations, and what it is made of', () => {
  const { text, tool } = drafted(
    foundOf([
      [started({ order: SECRET, amount: 3, lines: [{ sku: SECRET }] }), completed({ refund_id: SECRET })],
      [started({ order: SECRET, amount: 4.5 }), signaled('note', SECRET), completed({ refund_id: SECRET })],
    ]),
  );
  expect(text).toMatch(/^# Draft of the tool refund, made on 2026-11-25 by longhaul discover/);
  expect(text).toContain('since 2026-11-18: 1 completed; histories read: 2.');
  expect(text).toContain('# Signals in histories: note(string).');
  expect(text).toContain('workflow: { type: RefundWorkflow, task-queue: orders }');
  expect(tool.external).toMatchObject({ type: 'RefundWorkflow', taskQueue: 'orders' });
  expect(tool.toWorkflowArguments({ order: 'o' })).toEqual([{ order: 'o' }]);
  expect(tool.inputSchema).toMatchObject({
    properties: { order: { type: 'string' }, amount: { type: 'number' }, lines: { type: 'array' } },
    required: ['order', 'amount'],
  });
  expect(tool.outputSchema).toEqual({ type: 'object', properties: { refund_id: { type: 'string' } } });
  expect([tool.estimate.seconds, tool.deadlineSeconds]).toEqual([180, 3_600]);
});

test('arguments in order, and those with other encodings', () => {
  const { text, tool } = drafted(
    foundOf([
      [
        {
          workflowExecutionStartedEventAttributes: {
            workflowExecutionTimeout: { seconds: 7_200 as never },
            input: { payloads: [...payloadsOf(SECRET).payloads, rawPayload('binary/encrypted', SECRET)] },
          },
        },
      ],
    ]),
    { otherNamespace: 'shop' },
  );
  expect(text).toContain('Argument 2 is encoded as binary/encrypted');
  expect(tool.external).toMatchObject({ namespace: 'shop' });
  expect(tool.toWorkflowArguments({ arg1: 1, arg2: 2 })).toEqual([1, 2]);
  expect(tool.deadlineSeconds).toBe(7_200);
});

test('names of others can neither end a comment nor add keys', () => {
  const name = 'note\nadopt: true\u2028jobs: {}';
  const { text, tool } = drafted({
    ...foundOf([[started({ a: 1 }), signaled(name), updated(name, { [name]: 1 })]], (observed) => {
      observed.definitions = definitionsOf({
        definition: { queryDefinitions: [{ name, description: name }] },
      });
    }),
    type: 'Refund\nWorkflow: x',
    infos: [listed('a', [0, 180], 2, { taskQueue: "orders'\n#" })],
  });
  expect(text).toContain('adopt: true');
  expect(tool.external).toMatchObject({
    ...{ type: 'Refund\nWorkflow: x', taskQueue: "orders'\n#", adopt: undefined },
  });
});

describe('progress', () => {
  test.each<[string, unknown, object | undefined]>([
    ['a number', 3, { progress: '.' }],
    [
      'done and total',
      { rows: 3, total_rows: 5, phase: SECRET },
      { progress: 'rows', total: 'total_rows', stage: 'phase' },
    ],
    ['percent', { pct: 3.5 }, { progress: 'pct', total: 100 }],
    ['nothing of it', { cursor: SECRET }, undefined],
  ])('by heartbeats: %s', (_what, details, fields) => {
    const { text, tool } = drafted(
      foundOf([[started()]], (observed) => observed.addHeartbeat('ImportRows', payloadsOf(details))),
    );
    expect(tool.external!.progress).toEqual(fields && { from: 'heartbeats', fields });
    expect(text).toContain('# Heartbeats: ImportRows(');
  });
});

test('the last heartbeat of an attempt that has timed out gives progress', () => {
  const eventId = 5 as never;
  const seconds = 30 as never;
  const scheduled = { activityType: { name: 'ImportRows' }, heartbeatTimeout: { seconds } };
  const lost = { timeoutFailureInfo: { lastHeartbeatDetails: payloadsOf({ done: 3 }) } };
  const events: HistoryEvent[] = [
    { eventId, activityTaskScheduledEventAttributes: scheduled },
    { activityTaskTimedOutEventAttributes: { scheduledEventId: eventId, failure: lost } },
  ];
  const { external } = drafted(foundOf([[started(), ...events]])).tool;
  expect(external!.progress).toEqual({ from: 'heartbeats', fields: { progress: 'done' } });
  const { text, tool } = drafted(foundOf([[started(), events[0]!]]));
  expect(tool.external!.progress).toBeUndefined();
  expect(text).toContain('# Activities with a heartbeat time-out: ImportRows.');
});

describe('definitions of a worker', () => {
  const METADATA = {
    definition: {
      queryDefinitions: [{ name: '__stack_trace' }, { name: 'getProgress' }, { name: 'pendingApproval' }],
      signalDefinitions: [{ name: 'stopNow' }],
      updateDefinitions: [{ name: 'approve', description: 'Approves it.' }],
    },
  };
  const define = (observed: Observed) => {
    observed.definitions = definitionsOf(METADATA);
  };

  test('give progress, and a question where runs have shown how it is answered', () => {
    const { text, tool } = drafted(
      foundOf(
        [
          [started(), updated('approve', true, SECRET)],
          [started(), updated('approve', true)],
        ],
        define,
      ),
    );
    expect(tool.external).toMatchObject({
      progress: { from: { query: 'getProgress' } },
      question: {
        query: 'pendingApproval',
        schema: {
          properties: { approved: { type: 'boolean' }, arg2: { type: 'string' } },
          required: ['approved'],
        },
        answer: { by: 'update', name: 'approve', args: ['approved', 'arg2'] },
      },
    });
    expect(text).toContain('#   approve: Approves it.');
    expect(text).not.toContain('__stack_trace');
  });

  test('that no run has answered leave the question and the cancel in comments, valid once uncommented', () => {
    const { text, tool } = drafted(foundOf([[started()]], define));
    expect(tool.external!.question).toBeUndefined();
    const uncommented = text.replaceAll(
      /^# (?=question:|cancel:|adopt:| {2}\w+: (pendingApproval|\{ update))/gm,
      '',
    );
    const { value, problems } = parseTool(uncommented, 'tools/refund.yaml') as ParsedFile<Tool>;
    expect(problems).toEqual([]);
    expect(value!.external).toMatchObject({
      question: { query: 'pendingApproval', answer: { by: 'update', name: 'approve' } },
      cancelSignal: { name: 'stopNow' },
      adopt: {},
    });
  });
});

test.each([
  ['RefundWorkflow', 'refund'],
  ['shop.v2.OrderImportWorkflow', 'shop_v2_order_import'],
  ['operation_list', 'run_operation_list'],
  ['注文', 'run_workflow'],
  ['x'.repeat(80), 'x'.repeat(64)],
])('the tool over %s is called %s, and numbered if that is taken', (type, name) => {
  expect(toolNameFor(type, new Set())).toBe(name);
  expect(toolNameFor(type, new Set([name]))).toBe(`${name.slice(0, 62)}_2`);
});

describe('durations', () => {
  const NOW_MS = 1_000_000;

  test('runs that continue as new are one execution; others of the same ID are not', () => {
    const infos = [
      listed('a', [0, 60], CONTINUED),
      listed('a', [60, 100]),
      listed('a', [200, 220]),
      listed('b', [0, 500], FAILED),
    ];
    expect(durationsOf(infos, NOW_MS)).toEqual({ medianSeconds: 60, longestSeconds: 500 });
    expect(durationsOf([listed('a', [0], RUNNING)], NOW_MS)).toEqual({ longestSeconds: 1_000 });
  });

  test('minutes of a file are in its limits', () => {
    expect([0, 0.1, 200, 1e10].map(estimateMinutes)).toEqual([0.01, 0.01, 3.3, 525_600]);
    expect(timeoutMinutes([90, 30], 9_999)).toBe(1.5);
    expect(timeoutMinutes([], 10, true)).toBe(4_320);
    expect([10, 3_000, 1e12].map((longest) => timeoutMinutes([], longest))).toEqual([60, 240, 525_600]);
  });
});

test('completed runs are read first, with one that is open', () => {
  const infos = [
    listed('old', [1, 2]),
    listed('failed', [5, 6], FAILED),
    listed('new', [3, 4]),
    listed('open', [7], RUNNING),
    listed('open-too', [8], RUNNING),
  ];
  const chosen = (count: number) =>
    chosenRuns(infos, count).map(({ execution }: RunInfo) => execution!.workflowId);
  expect(chosen(1)).toEqual(['new']);
  expect(chosen(2)).toEqual(['new', 'open-too']);
  expect(chosen(5)).toEqual(['new', 'old', 'open-too', 'failed', 'open']);
});

const record = (value: object) => ({ type: 'object', additionalProperties: value });
const fields = (properties: object, ...required: string[]) => ({ type: 'object', properties, required });
const INTEGER = { type: 'integer' };

describe('a schema made of examples has no value of them, nor keys that are data', () => {
  const schemaFrom = (...values: unknown[]) => {
    const shape = emptyShape();
    for (const value of values) addExample(shape, value);
    return schemaOf(shape, true);
  };

  test.each<[string, unknown[], object]>([
    ['numbers that are sometimes whole', [1, 2.5], { type: 'number' }],
    ['a text that may be null', ['a', null], { type: ['string', 'null'] }],
    ['null alone', [null], {}],
    ['a list', [[1, 2], []], { type: 'array', items: INTEGER }],
    ['objects requires what all have', [{ a: 1, n: 1 }, { a: 2 }], fields({ a: INTEGER, n: INTEGER }, 'a')],
    ['lists merges them', [[{ a: 1 }, { a: 2 }]], { type: 'array', items: fields({ a: INTEGER }, 'a') }],
    ['keys that are IDs', [{ 'o-1773': [1] }, { 'o-881': [2] }], record({ type: 'array', items: INTEGER })],
    ['no common key', [{ alice: 1, bob: 2 }, { carol: 3 }], record(INTEGER)],
    ['addresses', [{ 'a@example.com': 'x' }], record({ type: 'string' })],
    ['a built-in name', [{ constructor: 1 }], record(INTEGER)],
  ])('of %s', (_what, values, schema) => expect(schemaFrom(...values)).toEqual(schema));

  test('of a deep value ends', () => {
    let value: unknown = 'secret';
    for (let depth = 0; depth < 1_000; depth += 1) value = { inner: value };
    expect(JSON.stringify(schemaFrom(value)).length).toBeLessThan(1_000);
  });
});

const seen = (...lists: unknown[][]) => {
  const values = new SeenValues();
  for (const list of lists) values.add(list.map(payloadOf));
  return values;
};

test('inputs have other names where tools reserve them; those that some runs lack are optional', () => {
  const { properties, args } = inputsFor(seen([{ id: 'a', wait: 3, wait_value: 4 }]));
  expect(Object.keys(properties)).toEqual(['id', 'wait_value', 'wait_value_2']);
  expect(args).toEqual({ id: 'id', wait: 'wait_value', wait_value: 'wait_value_2' });
  expect(inputsFor(seen(['a', 1], ['b']))).toMatchObject({ required: ['arg1'], args: ['arg1', 'arg2'] });
  expect(inputsFor(seen([]))).toEqual({ properties: {}, required: [], args: [] });
  expect(inputsFor(seen([{ a: 1 }], []))).toMatchObject({ args: ['arg1'], required: [] });
});

test('an output requires nothing, since clients refuse results that it excludes', () => {
  const properties = { id: { type: 'string' } };
  expect(outputFor(seen([{ id: 'a' }], [null]))).toEqual({ type: 'object', properties });
  expect(outputFor(seen([3]))).toEqual(INTEGER);
  expect(outputFor(seen([null]))).toBeUndefined();
  expect(outputFor(seen([{ id: 'a' }], ['text']))).toBe('mixed');
});

test('encodings other than plain JSON are named, and not decoded', () => {
  expect(decodePayload(rawPayload('json/plain', '{"a":1}'))).toEqual({ value: { a: 1 } });
  expect(decodePayload(rawPayload('binary/null', ''))).toEqual({ value: null });
  expect(decodePayload(rawPayload('binary/encrypted', 'secret'))).toEqual({ encoding: 'binary/encrypted' });
  expect(decodePayload(rawPayload('json/protobuf', '{"id":"a"}', 'shop.Order'))).toEqual({
    ...{ value: { id: 'a' }, encoding: 'json/protobuf shop.Order' },
  });
  expect(decodePayload(rawPayload('json/plain', 'secret'))).toEqual({
    encoding: 'json/plain that is no JSON',
  });
  expect(decodePayload({})).toEqual({ encoding: 'an unknown encoding' });
});
