/**
 * Checks beyond the schema, of keys that depend on each other. The file may have any form: the schema reports problems of
 * form, which are skipped here.
 */
import { checkJobs } from './checks/jobs.js';
import { checkOutputs } from './checks/outputs.js';
import { checkInputs } from './checks/schemas.js';
import { checkQueue } from './checks/queue.js';
import { checkScripts } from './checks/scripts.js';
import { checkSteps } from './checks/steps.js';
import { checkVariables } from './checks/variables.js';
import type { Report } from './problems.js';

const CHECKS = [checkInputs, checkVariables, checkJobs, checkSteps, checkScripts, checkOutputs, checkQueue];

/** Checks a file's data across its keys. */
export function checkFile(file: unknown, report: Report): void {
  for (const check of CHECKS) check(file, report);
}
