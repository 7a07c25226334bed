import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { log } from 'longhaul/activity';

export async function pack(_luggage: string): Promise<void> {
  log.info('packed');
}

/** Fails at its first attempt. */
export async function drive(_luggage: string): Promise<void> {
  log.info('drives');
  if (activityInfo().attempt === 1) throw ApplicationFailure.retryable('no fuel', 'NoFuel');
}
