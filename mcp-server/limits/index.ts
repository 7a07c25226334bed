/** Limits on callers' use of this process, in every protocol (docs/limits.md). */
import { countOpenOperations } from '../../engine/list/current-runs.js';
import type { Engine } from '../../engine/index.js';
import type { Settings } from '../../platform/settings/index.js';
import type { Logger } from '../../platform/observe/log.js';
import { FailedAuthentications } from './failed-authentications.js';
import { OpenOperations } from './open-operations.js';
import { OpenRequests } from './open-requests.js';
import { Rates } from './rates.js';

export { RateLimited } from './rates.js';

export interface StartLimits {
  /** @returns takes the admission back, if nothing was started @throws RateLimited */
  admit(principal: string): Promise<() => void>;
}

export class Limits {
  readonly rates: Rates;
  readonly openRequests: OpenRequests;
  readonly failedAuthentications: FailedAuthentications;
  /** For starts whose requests already counted as kickoffs. */
  readonly counted: StartLimits;
  /** For all other starts. */
  readonly starts: StartLimits;

  constructor(settings: Settings, engine: Pick<Engine, 'temporal'>, logger: Logger) {
    this.rates = new Rates(settings);
    this.openRequests = new OpenRequests(settings);
    this.failedAuthentications = new FailedAuthentications(logger);
    this.counted = openOperations(settings, engine, logger) ?? UNLIMITED;
    this.starts = {
      admit: async (principal) => {
        await this.rates.count('kickoff', principal);
        return this.counted.admit(principal);
      },
    };
  }
}

const UNLIMITED: StartLimits = { admit: () => Promise.resolve(() => undefined) };

function openOperations(
  { maxOpenOperations }: Pick<Settings, 'maxOpenOperations'>,
  { temporal }: Pick<Engine, 'temporal'>,
  logger: Logger,
): StartLimits | undefined {
  if (maxOpenOperations === undefined) return undefined;
  return new OpenOperations(
    maxOpenOperations,
    (principal) => countOpenOperations(temporal, principal),
    (reason) =>
      logger.warn({ reason }, 'open operations cannot be counted, so a start was admitted without a count'),
  );
}
