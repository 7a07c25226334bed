/** Callers by their API keys. */
import { findApiKey, isUsable, readApiKey, type ApiKey } from './key-store.js';
import { SettingsError } from '../../platform/settings/index.js';
import { sparingly, type Logger } from '../../platform/observe/log.js';
import { principalOf } from '../../operations/principal.js';
import type { Caller } from './caller.js';
import { CredentialUnknown, InvalidToken } from './challenge.js';

/** Starts each key, and distinguishes it from an access token. */
export const API_KEY_PREFIX = 'lh_';

/** How long a key's file isn't read again for open requests and streams, in milliseconds. Less than the time between checks. */
const SHARED_READ_MS = 500;

export class ApiKeys {
  /** Keys as last read for open requests and streams. */
  #checked = { atMs: -Infinity, keys: new Map<string, ApiKey | undefined>() };

  readonly #reportDamage: (reason: string) => void;

  constructor(
    private readonly folder: string,
    logger: Logger,
  ) {
    this.#reportDamage = sparingly((reason) => logger.error({ reason }, 'an API key cannot be read'));
  }

  /** @throws OAuthError `invalid_token` for a key that is revoked or expired; {@link CredentialUnknown} for any other text */
  callerOf(text: string): Caller {
    const key = this.#read(() => findApiKey(this.folder, text));
    const refused = 'The API key is unknown, revoked or expired';
    if (!key) throw new CredentialUnknown(refused);
    if (!isUsable(key)) throw new InvalidToken(refused);
    const { id, tenant, subject, groups = [] } = key;
    return {
      principal: principalOf(key),
      tenant,
      subject,
      groups,
      scopes: [],
      credential: { kind: 'key', id },
      isValid: () => this.#isStillUsable(id),
    };
  }

  /** All of a key's requests and streams that are checked at about the same time share one read. */
  #isStillUsable(id: string): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#checked.atMs > SHARED_READ_MS) this.#checked = { atMs: nowMs, keys: new Map() };
    const { keys } = this.#checked;
    if (!keys.has(id))
      keys.set(
        id,
        this.#read(() => readApiKey(this.folder, id)),
      );
    const key = keys.get(id);
    return key !== undefined && isUsable(key);
  }

  /** A damaged file counts as no key: the operator has to repair it, and the caller shouldn't hear of it. */
  #read<Key>(read: () => Key | undefined): Key | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      this.#reportDamage(error.message);
      return undefined;
    }
  }
}
