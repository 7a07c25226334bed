/** Decides when all foreign clients are driven. */
import { selectExtent, type Selection } from '../support/passed.js';

/** Files and folders that decide how a foreign client fares. */
const TOUCHED = [
  'mcp-server',
  'operations',
  'engine',
  'tools',
  'workflows',
  'activities',
  'test/fixtures/project',
  'test/foreign-clients',
  'test/support',
  'package-lock.json',
];

/**
 * All clients are driven when LONGHAUL_FOREIGN_CLIENTS is `all`, and when no whole run has passed with the files as they
 * are now.
 *
 * @param records folder of the records in the user's cache, one for each file of tests
 */
export function selectClients(records = 'foreign-clients-passed'): Selection {
  return selectExtent(records, TOUCHED, 'LONGHAUL_FOREIGN_CLIENTS');
}
