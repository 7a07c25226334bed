import { join } from 'node:path';

/** Folder of our reporters. */
export const REPORTERS = join(import.meta.dirname, '..', '..', 'reporters');
