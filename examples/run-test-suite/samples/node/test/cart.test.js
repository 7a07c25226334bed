import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { add, total } from '../lib/cart.js';

describe('total', () => {
  it('of an empty cart is 0', () => assert.equal(total([]), 0));
  it('counts items', () => assert.equal(total([{ cents: 250, count: 3 }]), 750));
  it('takes a discount', () => assert.equal(total([{ cents: 1000 }], 20), 800));
  it('rounds a discount once', () => assert.equal(total([{ cents: 5, count: 10 }], 10), 45));
});

describe('add', () => {
  it('leaves the cart as it was', () => {
    const cart = [];
    add(cart, { cents: 1 });
    assert.deepEqual(cart, []);
  });
  it('refuses a negative price', () => assert.throws(() => add([], { cents: -1 }), RangeError));
  it.skip('refuses a price in two currencies', () => undefined);
});
