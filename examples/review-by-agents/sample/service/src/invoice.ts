import { formatAmount } from './money.ts';
import { rateOf, type Parcel } from './rates.ts';

export function invoiceOf(parcels: readonly Parcel[]): string {
  const total = parcels.reduce((sum, parcel) => sum + rateOf(parcel), 0);
  return `${parcels.length} parcels, CHF ${formatAmount(total)}`;
}
