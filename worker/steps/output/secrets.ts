/** Values of a pipeline's secrets: read from the worker's environment, and passed only to steps' environments. */
import { createHmac } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { SECRET_VARIABLE_PREFIX, secretValueOf } from '../../../platform/settings/index.js';
import { SECRET_UNUSABLE } from '../failures.js';
import { SHORTEST_SECRET } from './secret-forms.js';

/** @throws ApplicationFailure that says which variable of the worker to set */
export function secretsOf(
  names: readonly string[],
  host: string,
  environment?: NodeJS.ProcessEnv,
): Record<string, string> {
  const values: Record<string, string> = {};
  for (const name of names) {
    const value = secretValueOf(name, environment);
    const variable = SECRET_VARIABLE_PREFIX + name;
    if (!value) throw unusable(`secret ${name} is missing: set ${variable} for the workers (host ${host})`);
    if (value.length < SHORTEST_SECRET)
      throw unusable(
        `secret ${name} has fewer than ${SHORTEST_SECRET} characters, and can't be masked: set a longer ${variable}`,
      );
    values[name] = value;
  }
  return values;
}

/** Digest of a run's secrets, which shows another worker whether they are unchanged. Keyed, because some secrets could be guessed. */
export function secretsDigest(key: Uint8Array, stepId: string, secrets: Record<string, string>): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([stepId, Object.entries(secrets).sort()]))
    .digest('base64url');
}

function unusable(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, SECRET_UNUSABLE);
}
