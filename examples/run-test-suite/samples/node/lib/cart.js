/** Total of a cart in cents. The discount is rounded for each item, which is the defect that a test finds. */
export function total(items, discountPercent = 0) {
  return items.reduce(
    (sum, { cents, count = 1 }) => sum + Math.round((cents * (100 - discountPercent)) / 100) * count,
    0,
  );
}

export function add(items, item) {
  if (!(item.cents >= 0)) throw new RangeError(`a price of ${item.cents} cents`);
  return [...items, item];
}
