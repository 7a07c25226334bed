/** The credential that client commands send. */
import { givenApiKey } from '../../platform/settings/index.js';
import { CommandFailure } from '../failure.js';

/** Sends LONGHAUL_API_KEY, an API key or an access token, if it is set. */
export function credentialHeaders(): Record<string, string> {
  const key = givenApiKey();
  return key === undefined ? {} : { Authorization: `Bearer ${key}` };
}

/** Failure for status 401; undefined for any other. @param detail the server's message */
export function refusedCredential(httpStatus: number | undefined, detail = ''): CommandFailure | undefined {
  if (httpStatus !== 401) return undefined;
  const remedy =
    givenApiKey() === undefined
      ? 'set LONGHAUL_API_KEY to a key made by `longhaul keys add`'
      : 'LONGHAUL_API_KEY was refused';
  return new CommandFailure(
    `the server wants to know who asks: ${remedy}${detail && `; it says: ${detail}`}`,
  );
}
