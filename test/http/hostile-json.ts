/** Requests that would hold a server, overflow its stack or not survive Temporal, as text, and what refuses them. */
import { expect } from '@jest/globals';

export const members = (count: number) =>
  `{${Array.from({ length: count }, (_, index) => `"${index.toString(36)}":0`).join(',')}}`;
export const lists = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

/** Values of an argument, and what the refusal says. */
export const TOO_LARGE: [what: string, json: string, message: string][] = [
  ['6,000 lists within each other', lists(6_000), 'expected at most 64 levels of nesting; got 600'],
  [
    '6,000 objects within each other',
    `${'{"a":'.repeat(6_000)}1${'}'.repeat(6_000)}`,
    'expected at most 64 levels of nesting; got 600',
  ],
  ['300,000 keys', members(300_000), 'expected at most 10000 members of objects in all; got 3000'],
  [
    '500,000 items',
    `[${'1,'.repeat(499_999)}1]`,
    'expected at most 50000 members and items in all; got 5000',
  ],
];
export const SURROGATE = 'expected Unicode text; got half of a surrogate pair (\\ud800 to \\udfff)';

/** Sends a request whose params are this text. The ID comes last, as the official TypeScript clients write it. */
export type Send = (method: string, params: string) => Promise<any>;
export const bodyOf = (method: string, params: string, id = 7) =>
  `{"method":"${method}","params":{${params}},"jsonrpc":"2.0","id":${id}}`;

export async function refusesEverything(send: Send): Promise<void> {
  for (const [what, json, message] of TOO_LARGE)
    for (const params of [
      `"name":"slow_compute","arguments":{"seconds":0,"label":${json}}`,
      `"name":"greet","arguments":{"name":${json}}`,
    ])
      expect([what, await send('tools/call', params)]).toMatchObject([
        what,
        { error: { code: -32600, message: expect.stringContaining(message) } },
      ]);
  for (const [method, params, where] of [
    ['tools/call', '"name":"slow_compute","arguments":{"seconds":0,"label":"a\\ud800b"}', 'arguments.label'],
    ['tools/call', '"name":"slow_compute","arguments":{"seconds":0,"\\uDFFF":1}', 'arguments."\\udfff"'],
    [
      'tools/call',
      '"name":"slow_compute","arguments":{"seconds":0,"idempotency_key":"\\udc00\\ud800"}',
      'arguments.idempotency_key',
    ],
    ['tools/call', '"name":"operation_get","arguments":{"token":"\\ud800"}', 'arguments.token'],
    ['tools/call', '"name":"send_message","arguments":{"to":"a","content":"\\ud800"}', 'arguments.content'],
    [
      'tools/call',
      '"name":"operation_answer","arguments":{"value":{"a":["\\ud800"]}}',
      'arguments.value.a.0',
    ],
    ['resources/read', '"uri":"longhaul://operations/\\ud800/result"', 'uri'],
  ])
    expect(await send(method!, params!)).toMatchObject({
      error: { code: -32602, message: `params.${where}: ${SURROGATE}` },
    });
  for (const [params, where, number] of [
    ['"name":"slow_compute","arguments":{"seconds":1e400}', 'arguments.seconds', '1e400'],
    ['"name":"greet","arguments":{"name":[0,9007199254740993]}', 'arguments.name.1', '9007199254740993'],
    [
      '"name":"greet","_meta":{"progressToken":-9007199254740993}',
      '_meta.progressToken',
      '-9007199254740993',
    ],
  ])
    expect((await send('tools/call', params!)).error).toEqual({
      code: -32602,
      message: `params.${where}: expected a number that keeps its digits (integers up to 9007199254740991); got ${number}; send it as a string`,
    });
}

/** Each required parameter as null: an error that names it, and no dump of a schema library's issues. */
export async function refusesNulls(send: Send): Promise<void> {
  for (const [method, params, where] of [
    ['resources/read', '"uri":null', 'params.uri'],
    ['resources/read', '"x":1', 'params.uri'],
    ['tools/call', '"name":null', 'params.name'],
    ['tools/call', '"name":"greet","arguments":null', 'params.arguments'],
    ['tools/call', '"name":"greet","arguments":"x"', 'params.arguments'],
    ['tasks/get', '"taskId":null', 'taskId'],
    ['tasks/cancel', '"taskId":null', 'taskId'],
    ['prompts/get', '"name":null', 'params.name'],
  ]) {
    const { error } = await send(method!, params!);
    expect([method, params, error]).toEqual([method, params, expect.objectContaining({ code: -32602 })]);
    expect(error.message).toContain(where);
    expect(error.message).not.toMatch(/[\n{[]/);
  }
}
