/**
 * Callers whom a gateway in front has authenticated: it sends a JWT in a header of its own, such as Cloudflare Access, Google's
 * Identity-Aware Proxy and Pomerium do. The signature says that the header is the gateway's, however the request came here.
 */
import type { JWTVerifyGetKey } from 'jose';
import type { Settings } from '../../platform/settings/index.js';
import { sparingly, type Logger } from '../../platform/log.js';
import { readPublicKey } from '../../platform/settings/public-key.js';
import type { Caller } from './caller.js';
import { callerOfClaims } from './claims.js';
import { AuthenticationUnavailable, isCurrent, remoteKeys, verifyJwt } from './jwt.js';

/** Settings of the method `gateway`; one of the two sources of keys is there. */
export type GatewaySettings = Pick<
  Settings,
  'gatewayJwks' | 'gatewayPublicKeyFile' | 'gatewayTenantClaim' | 'gatewaySubjectClaim' | 'gatewayGroupsClaim'
> & { gatewayHeader: string; gatewayIssuer: string; gatewayAudience: string };

const WHAT = "gateway's JWT";

export class GatewayIdentities {
  readonly #keys: JWTVerifyGetKey;
  readonly #reportFailure: (error: unknown) => void;

  /** @throws Error when the file of the public key can't be used */
  constructor(
    private readonly settings: GatewaySettings,
    logger: Logger,
  ) {
    const { gatewayJwks, gatewayPublicKeyFile } = settings;
    this.#reportFailure = sparingly((err) =>
      logger.warn({ jwks: gatewayJwks, err }, "the gateway's keys cannot be read"),
    );
    if (gatewayJwks !== undefined) this.#keys = remoteKeys(gatewayJwks);
    else {
      const key = readPublicKey(gatewayPublicKeyFile!);
      this.#keys = () => Promise.resolve(key);
    }
  }

  get header(): string {
    return this.settings.gatewayHeader;
  }

  /**
   * The caller whom the header's value names.
   *
   * @throws OAuthError `invalid_token`
   * @throws AuthenticationUnavailable
   */
  async callerOf(assertion: string): Promise<Caller> {
    const { gatewayIssuer, gatewayAudience, ...settings } = this.settings;
    try {
      const claims = await verifyJwt(assertion, {
        what: WHAT,
        issuer: gatewayIssuer,
        audience: [gatewayAudience],
        keys: this.#keys,
      });
      const caller = callerOfClaims(claims, WHAT, {
        tenantClaim: settings.gatewayTenantClaim,
        tenant: tenantOf(gatewayIssuer),
        subjectClaim: settings.gatewaySubjectClaim,
        groupsClaim: settings.gatewayGroupsClaim,
      });
      return { ...caller, isValid: () => isCurrent(claims.exp!) };
    } catch (error) {
      if (!(error instanceof AuthenticationUnavailable)) throw error;
      this.#reportFailure(error);
      throw new AuthenticationUnavailable(
        `the gateway's callers can't be checked: ${settings.gatewayJwks} does not answer`,
        { cause: error },
      );
    }
  }
}

/** The issuer's host; the issuer itself where it is no URL, as Pomerium's is. */
function tenantOf(issuer: string): string {
  return (URL.canParse(issuer) && new URL(issuer).host) || issuer;
}
