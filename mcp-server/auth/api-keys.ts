/** Callers by their API keys. */
import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import { findApiKey, isUsable, readApiKey } from '../../platform/api-keys.js';
import { SettingsError } from '../../platform/config.js';
import type { Logger } from '../../platform/log.js';
import { principalOf } from '../../platform/principal.js';
import type { Caller } from './caller.js';

/** Begins each key, so that it isn't taken for an access token. */
export const API_KEY_PREFIX = 'lh_';

export class ApiKeys {
  constructor(
    private readonly folder: string,
    private readonly logger: Logger,
  ) {}

  /** @throws OAuthError `invalid_token` for a key that is unknown, revoked or expired */
  callerOf(text: string): Caller {
    const key = this.#read(() => findApiKey(this.folder, text));
    if (!key || !isUsable(key))
      throw new OAuthError(OAuthErrorCode.InvalidToken, 'The API key is unknown, revoked or expired');
    const { id } = key;
    return {
      principal: principalOf(key),
      isValid: () => {
        const current = this.#read(() => readApiKey(this.folder, id));
        return current !== undefined && isUsable(current);
      },
    };
  }

  /** A damaged file counts as no key: it is the operator's to repair, and not for the caller to hear of. */
  #read<Key>(read: () => Key | undefined): Key | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      this.logger.error({ reason: error.message }, 'an API key cannot be read');
      return undefined;
    }
  }
}
