/** Background checks: jobs of another company. The state of a job follows from the time, so that it survives restarts of the service. */

export const JOB_COLLECTION = 'checks/jobs';
export const JOBS_TABLE =
  'CREATE TABLE IF NOT EXISTS jobs (arn TEXT PRIMARY KEY, vendor TEXT, startedAt INTEGER, cancelledAt INTEGER)';

const PHASES = ['company register', 'sanctions lists', 'credit report', 'references'];
const SANCTIONED = ['Sable Harbour Trading'];

export interface JobRow {
  arn: string;
  vendor: string;
  /** Milliseconds since 1970. */
  startedAt: number;
  cancelledAt: number | null;
}

/** Name of the job that a request with this idempotency key starts. */
export function jobArn(key: string): string {
  return `arn:checks:vendor/${key}`;
}

export function jobAnswer({ arn, vendor, startedAt, cancelledAt }: JobRow, jobMs: number) {
  const done = Math.min(PHASES.length, Math.floor(((Date.now() - startedAt) / jobMs) * PHASES.length));
  const isOver = done === PHASES.length;
  const state = cancelledAt !== null ? 'cancelled' : isOver ? 'completed' : 'running';
  const finding = SANCTIONED.includes(vendor) ? `${vendor} is on a sanctions list` : undefined;
  return {
    id: arn,
    state,
    done,
    of: PHASES.length,
    phase: PHASES[done],
    ...(isOver && finding ? { finding } : {}),
  };
}
