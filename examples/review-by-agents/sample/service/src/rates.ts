import type { Cents } from './money.ts';

export interface Parcel {
  grams: number;
  country: string;
}

/** Prices up to a weight, lightest first. */
const DOMESTIC: readonly { upToGrams: number; price: Cents }[] = [
  { upToGrams: 500, price: 395 },
  { upToGrams: 2_000, price: 549 },
  { upToGrams: 10_000, price: 949 },
];
const ABROAD_FACTOR = 2;

/** @throws RangeError for a parcel that is too heavy */
export function rateOf({ grams, country }: Parcel): Cents {
  const band = DOMESTIC.find(({ upToGrams }) => grams <= upToGrams);
  if (!band) throw new RangeError(`${grams} g is more than a parcel may weigh`);
  return country === 'CH' ? band.price : band.price * ABROAD_FACTOR;
}
