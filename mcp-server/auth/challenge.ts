/** Answers to requests without a valid credential. */
import { bearerAuthChallengeResponse, OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import { CertificateRequired } from './client-certificates.js';

/** The request has no credential at all. */
export class CredentialMissing extends OAuthError {
  override name = 'CredentialMissing';

  constructor(message: string) {
    super(OAuthErrorCode.InvalidToken, message);
  }
}

/** Nobody has the credential, as far as this server knows: it may be a guess. Such requests are counted by address. */
export class CredentialUnknown extends OAuthError {
  override name = 'CredentialUnknown';

  constructor(message: string) {
    super(OAuthErrorCode.InvalidToken, message);
  }
}

export interface ChallengeOptions {
  requiredScopes?: string[];
  /** Address of the OAuth metadata of this resource (RFC 9728, section 5.1). */
  resourceMetadataUrl?: string;
}

/**
 * The HTTP status and headers for an error of authentication. A request without a credential gets a challenge without an error
 * (RFC 6750, section 3.1). A missing client certificate is answered 403: it is not asked for in HTTP, so there is no challenge.
 */
export function challengeFor(error: unknown, options: ChallengeOptions): Response {
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
