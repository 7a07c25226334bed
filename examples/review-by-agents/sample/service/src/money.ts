/** Amounts in cents, so that sums are exact. */
export type Cents = number;

/** @throws RangeError for text that is no amount, such as `12.345` */
export function parseAmount(text: string): Cents {
  const match = /^(\d{1,9})(?:\.(\d{2}))?$/.exec(text.trim());
  if (!match) throw new RangeError(`expected an amount such as 12.50; got ${JSON.stringify(text)}`);
  return Number(match[1]) * 100 + Number(match[2] ?? 0);
}

export function formatAmount(amount: Cents): string {
  return `${Math.trunc(amount / 100)}.${String(amount % 100).padStart(2, '0')}`;
}
