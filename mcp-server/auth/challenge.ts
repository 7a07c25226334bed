/** Errors of authentication, and the answers to requests without a valid credential. */
import { bearerAuthChallengeResponse, OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import { sparingly, type Logger } from '../../platform/observe/log.js';

/** The credential isn't accepted, or no longer. */
export class InvalidToken extends OAuthError {
  override name = 'InvalidToken';

  constructor(message: string) {
    super(OAuthErrorCode.InvalidToken, message);
  }
}

export class CredentialMissing extends InvalidToken {
  override name = 'CredentialMissing';
}

/** This server doesn't know the credential, which may be a guess. Such requests are counted by address. */
export class CredentialUnknown extends InvalidToken {
  override name = 'CredentialUnknown';
}

/** A client certificate is needed, and the connection has no valid one. */
export class CertificateRequired extends OAuthError {
  override name = 'CertificateRequired';

  constructor(reason: string) {
    super(
      OAuthErrorCode.AccessDenied,
      `Expected a client certificate of an authority that this server trusts; ${reason}`,
    );
  }
}

/** The server that checks the credential can't be reached, so the credential may or may not be valid. */
export class AuthenticationUnavailable extends Error {
  override name = 'AuthenticationUnavailable';
}

/** Makes the error for credentials that can't be checked, and logs it sparingly. */
export type Unavailability = (why: string, cause?: unknown) => AuthenticationUnavailable;

/** @param issuer of the tokens that can't be checked */
export function unavailabilityOf(issuer: string, logger: Logger): Unavailability {
  const report = sparingly((message: string, err: unknown) => logger.warn({ err }, message));
  return (why, cause) => {
    const message = `tokens of ${issuer} can't be checked: ${why}`;
    report(message, cause);
    return new AuthenticationUnavailable(message, { cause });
  };
}

/**
 * HTTP status and headers for an authentication error. A request without a credential gets a challenge without an error (RFC 6750,
 * section 3.1). A missing client certificate gets 403: HTTP can't ask for it, so there is no challenge.
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
