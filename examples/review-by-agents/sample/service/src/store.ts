import type { Parcel } from './rates.ts';
import type { Scan } from './tracking.ts';

export interface StoredParcel extends Parcel {
  id: string;
  scans: Scan[];
}

/** Parcels by their ID. */
export class ParcelStore {
  readonly #parcels = new Map<string, StoredParcel>();

  add(id: string, parcel: Parcel): void {
    this.#parcels.set(id, { ...parcel, id, scans: [] });
  }

  find(id: string): StoredParcel | undefined {
    return this.#parcels.get(id);
  }

  scan(id: string, scan: Scan): boolean {
    const parcel = this.find(id);
    parcel?.scans.push(scan);
    return parcel !== undefined;
  }
}
