import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rateOf } from '../src/rates.ts';

test('the price depends on weight and country', () => {
  assert.equal(rateOf({ grams: 400, country: 'CH' }), 395);
  assert.equal(rateOf({ grams: 400, country: 'DE' }), 790);
  assert.throws(() => rateOf({ grams: 20_000, country: 'CH' }), RangeError);
});
