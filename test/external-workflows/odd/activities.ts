import { ApplicationFailure, Context } from '@temporalio/activity';

/** Counts slowly, with heartbeats. */
export async function countRows(rows: number): Promise<number> {
  const context = Context.current();
  for (let row = 1; row <= rows; row += 1) {
    context.heartbeat({ rows: row, total: rows });
    await context.sleep(200);
  }
  return rows;
}

export async function fail(message: string): Promise<void> {
  throw ApplicationFailure.nonRetryable(message, 'Odd', { more: 'details' });
}
