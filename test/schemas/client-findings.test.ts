/** Arguments for which some clients refuse all tools of a server. */
import { expect, test } from '@jest/globals';
import { clientFindings } from '../../operations/documentation/gaps.js';

test('findings are combinations at the top and names that model APIs refuse, and nothing within', () => {
  const inner = { anyOf: [{ type: 'string' }], properties: { 'a.b': {} } };
  const odd = { 'order.id': {}, ['x'.repeat(65)]: {}, fine_Name: inner, 'fine-2': {} };
  expect(clientFindings({ type: 'object', properties: odd, anyOf: [{ required: ['a'] }], if: {} })).toEqual(
    [['anyOf'], ['if'], ['properties', 'order.id'], ['properties', 'x'.repeat(65)]].map((path) => ({
      path,
      message: expect.stringMatching(
        /^makes some clients and model APIs refuse all tools of the server; expected /,
      ),
    })),
  );
  expect(clientFindings({ type: 'object', properties: { fine: inner } })).toEqual([]);
  expect(clientFindings({ type: 'object' })).toEqual([]);
});
