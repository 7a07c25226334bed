import { formatAmount } from './money.ts';
import { rateOf } from './rates.ts';
import type { StoredParcel } from './store.ts';

/** Lines of the label. */
export function labelOf(parcel: StoredParcel): string[] {
  return [parcel.id, `${parcel.grams} g`, parcel.country, `CHF ${formatAmount(rateOf(parcel))}`];
}
