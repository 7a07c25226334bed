import { expect, test } from '@jest/globals';
import { isAcceptable, isNamed, preferredType } from '../../mcp-server/http/accept.js';

const JSON_TYPE = 'application/json';

test.each<[header: string | undefined, isAcceptable: boolean, isNamed: boolean]>([
  [undefined, true, false],
  ['', true, false],
  ['*/*', true, false],
  ['*', true, false],
  ['application/*', true, true],
  ['Application/JSON', true, true],
  ['application/json; charset=utf-8', true, true],
  ['application/json;q=0', false, false],
  ['application/json;q=0, */*', false, false],
  ['application/*;q=0, application/json;q=0.1', true, true],
  ['application/*, */*;q=0', true, true],
  ['text/html', false, false],
  ['text/html, */*;q=0.1', true, false],
  ['constructor, toString', false, false],
])('Accept: %s', (header, acceptable, named) => {
  expect([isAcceptable(header, JSON_TYPE), isNamed(header, JSON_TYPE)]).toEqual([acceptable, named]);
});

test.each([
  [undefined, JSON_TYPE],
  ['*/*', JSON_TYPE],
  ['text/html', JSON_TYPE],
  ['text/plain', 'text/plain'],
  ['TEXT/*', 'text/plain'],
  ['text/plain, */*', 'text/plain'],
  ['application/json, text/plain, */*', JSON_TYPE],
  ['application/json;q=0.9, text/plain', 'text/plain'],
  ['text/plain;q=0, */*', JSON_TYPE],
])('of JSON and text, Accept: %s prefers %s', (header, type) => {
  expect(preferredType(header, [JSON_TYPE, 'text/plain'])).toBe(type);
});
