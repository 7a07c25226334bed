/** Errors of authentication, and the answers to requests without a valid credential. */
import { bearerAuthChallengeResponse, OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import { sparingly, type Logger } from '../../platform/log.js';

/** The credential doesn't count, or no more. */
export class InvalidToken extends OAuthError {
  override name = 'InvalidToken';

  constructor(message: string) {
    super(OAuthErrorCode.InvalidToken, message);
  }
}

/** The request has no credential at all. */
export class CredentialMissing extends InvalidToken {
  override name = 'CredentialMissing';
}

/** Nobody has the credential, as far as this server knows: it may be a guess. Such requests are counted by address. */
export class CredentialUnknown extends InvalidToken {
  override name = 'CredentialUnknown';
}

/** A client certificate is needed, and the connection has none that counts. */
export class CertificateRequired extends OAuthError {
  override name = 'CertificateRequired';

  constructor(reason: string) {
    super(
      OAuthErrorCode.AccessDenied,
      `Expected a client certificate of an authority that this server trusts; ${reason}`,
    );
  }
}

/** The server that a credential is checked with can't be reached: the credential may be valid or not. */
export class AuthenticationUnavailable extends Error {
  override name = 'AuthenticationUnavailable';
}

/** Makes the error for credentials that can't be checked, and logs it now and then. */
export type Unavailability = (why: string, cause?: unknown) => AuthenticationUnavailable;

/** @param what the credentials, in messages: `access tokens` */
export function unavailabilityOf(what: string, logger: Logger): Unavailability {
  const report = sparingly((message: string, err: unknown) => logger.warn({ err }, message));
  return (why, cause) => {
    const message = `${what} can't be checked: ${why}`;
    report(message, cause);
    return new AuthenticationUnavailable(message, { cause });
  };
}

/**
 * The HTTP status and headers for an error of authentication. A request without a credential gets a challenge without an error
 * (RFC 6750, section 3.1). A missing client certificate is answered 403: it is not asked for in HTTP, so there is no challenge.
 *
 * @param options with the address of this resource's OAuth metadata (RFC 9728, section 5.1)
 */
export function challengeFor(
  error: unknown,
  options: NonNullable<Parameters<typeof bearerAuthChallengeResponse>[1]>,
): Response {
  if (error instanceof CertificateRequired) return Response.json(error.toResponseObject(), { status: 403 });
  if (!(error instanceof CredentialMissing)) return bearerAuthChallengeResponse(error, options);
  const { requiredScopes = [], resourceMetadataUrl } = options;
  const parameters = [
    'realm="longhaul"',
    ...(requiredScopes.length ? [`scope="${requiredScopes.join(' ')}"`] : []),
    ...(resourceMetadataUrl === undefined ? [] : [`resource_metadata="${resourceMetadataUrl}"`]),
  ];
  return Response.json(
    { error_description: error.message },
    { status: 401, headers: { 'WWW-Authenticate': `Bearer ${parameters.join(', ')}` } },
  );
}
