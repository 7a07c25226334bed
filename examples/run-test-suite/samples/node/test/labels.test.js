import assert from 'node:assert/strict';
import { test } from 'node:test';

const label = (cents, currency) =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).format(cents / 100);

for (const [cents, currency, expected] of [
  [1999, 'EUR', '€19.99'],
  [5, 'USD', '$0.05'],
  [100, 'GBP', '£1.00'],
])
  test(`a label in ${currency}`, () => assert.equal(label(cents, currency), expected));
