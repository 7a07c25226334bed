import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAmount, parseAmount } from '../src/money.ts';

test('amounts are read and written in cents', () => {
  assert.equal(parseAmount('12.50'), 1250);
  assert.equal(formatAmount(1205), '12.05');
  assert.throws(() => parseAmount('12.345'), RangeError);
});
