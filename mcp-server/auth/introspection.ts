/**
 * Token introspection (RFC 7662): the authorization server says whether an access token is valid, and whose it is. Answers are kept
 * for a few seconds, so that neither requests nor open streams ask for each token again and again.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import type { JWTPayload } from 'jose';
import PQueue from 'p-queue';
import { z } from 'zod';
import { sparingly, type Logger } from '../../platform/log.js';
import { CredentialUnknown } from './challenge.js';
import { ANSWER_LIMIT_MS, AuthenticationUnavailable, CLOCK_TOLERANCE_SECONDS, isCurrent } from './jwt.js';

/** How long an answer is used for new requests, in milliseconds. */
const MAX_AGE_MS = 5_000;
/** Age of an answer from which it is asked for again for open requests and streams, in milliseconds: checks are a second apart. */
const HELD_AGE_MS = 3_000;
/** How long open requests and streams stay while the authorization server doesn't answer, in milliseconds. */
const UNCONFIRMED_LIMIT_MS = 60_000;
/** Maximum number of answers that are kept. */
const MAX_ANSWERS = 10_000;
/** Maximum number of requests to the authorization server at a time, and of those that wait. */
const MAX_REQUESTS = 32;
const MAX_WAITING = 1_000;
/** Requests for open streams come first: they are few, and unknown tokens may be many. */
const FIRST = 1;

export interface IntrospectionEndpoint {
  url: string;
  /** Whether client ID and secret go into the body, since the server doesn't take them as HTTP Basic. */
  usesPost: boolean;
}

export interface IntrospectionClient {
  clientId: string;
  /** The secret itself, or the path of a file with it, which is read at each use. */
  secret: { value: string } | { file: string };
}

const answerSchema = z.looseObject({
  active: z.boolean(),
  iss: z.string().optional(),
  aud: z.union([z.string(), z.array(z.string())]).optional(),
  exp: z.number().optional(),
  nbf: z.number().optional(),
  token_type: z.string().optional(),
});

export type IntrospectionAnswer = z.infer<typeof answerSchema>;

/** A token with the latest answer, shared by all requests with it. Times are those of `performance.now()`. */
interface Known {
  token: string;
  /** The latest answer; undefined before the first. */
  answer?: IntrospectionAnswer;
  answeredAtMs: number;
  askedAtMs: number;
  asking?: Promise<void>;
}

export class Introspection {
  /** SHA-256 of a token -> its answer, the oldest first. */
  readonly #known = new Map<string, Known>();
  readonly #reportFailure: (url: string, error: unknown) => void;
  readonly #requests = new PQueue({ concurrency: MAX_REQUESTS });

  constructor(
    private readonly client: IntrospectionClient,
    private readonly endpoint: () => Promise<IntrospectionEndpoint>,
    logger: Logger,
  ) {
    this.#reportFailure = sparingly((url, err) =>
      logger.warn({ url, err }, 'the authorization server cannot be asked about a token'),
    );
  }

  /**
   * @param accept makes something of the claims; throws an OAuthError for those that aren't acceptable
   * @returns that, and whether the token is still valid and acceptable, as far as this is known by now
   * @throws OAuthError `invalid_token`; {@link CredentialUnknown}
   * @throws AuthenticationUnavailable
   */
  async check<Accepted>(
    token: string,
    accept: (claims: JWTPayload) => Accepted,
  ): Promise<{ accepted: Accepted; isValid: () => boolean }> {
    const known = this.#find(token);
    if (known.answer === undefined || performance.now() - known.answeredAtMs > MAX_AGE_MS)
      await this.#ask(known);
    return {
      accepted: accept(activeClaims(known.answer!)),
      isValid: () => this.#isStillValid(known, accept),
    };
  }

  #isStillValid(known: Known, accept: (claims: JWTPayload) => unknown): boolean {
    const nowMs = performance.now();
    if (nowMs - known.answeredAtMs > UNCONFIRMED_LIMIT_MS) return false;
    if (nowMs - Math.max(known.answeredAtMs, known.askedAtMs) > HELD_AGE_MS)
      void this.#ask(known, FIRST).catch(() => undefined);
    try {
      accept(activeClaims(known.answer!));
      return true;
    } catch {
      return false;
    }
  }

  #find(token: string): Known {
    const hash = createHash('sha256').update(token).digest('base64');
    const found = this.#known.get(hash);
    if (found) return found;
    const known: Known = { token, answeredAtMs: -Infinity, askedAtMs: -Infinity };
    this.#known.set(hash, known);
    const oldest = this.#known.keys().next();
    if (this.#known.size > MAX_ANSWERS && !oldest.done) this.#known.delete(oldest.value);
    return known;
  }

  /** One request at a time for each token. @throws AuthenticationUnavailable */
  #ask(known: Known, priority = 0): Promise<void> {
    if (known.asking) return known.asking;
    if (this.#requests.size >= MAX_WAITING)
      return Promise.reject(
        new AuthenticationUnavailable("access tokens can't be checked: too many at once"),
      );
    known.askedAtMs = performance.now();
    known.asking = this.#requests
      .add(() => this.#request(known.token), { priority })
      .then((answer) => {
        known.answer = answer;
        // The age counts from the question: the token may have been revoked since.
        known.answeredAtMs = known.askedAtMs;
      })
      .finally(() => delete known.asking);
    return known.asking;
  }

  async #request(token: string): Promise<IntrospectionAnswer> {
    let url = '';
    try {
      const endpoint = await this.endpoint();
      url = endpoint.url;
      const { clientId } = this.client;
      const secret = this.#secret();
      const body = new URLSearchParams({ token, token_type_hint: 'access_token' });
      const headers = new Headers({ accept: 'application/json' });
      if (endpoint.usesPost) {
        body.set('client_id', clientId);
        body.set('client_secret', secret);
      } else headers.set('authorization', basic(clientId, secret));
      const response = await fetch(url, {
        method: 'POST',
        headers,
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
      });
      if (!response.ok) throw new Error(`expected an answer about a token; got HTTP ${response.status}`);
      return answerSchema.parse(await response.json());
    } catch (error) {
      this.#reportFailure(url, error);
      if (error instanceof AuthenticationUnavailable) throw error;
      throw new AuthenticationUnavailable(`access tokens can't be checked: ${url} does not answer`, {
        cause: error,
      });
    }
  }

  #secret(): string {
    const { secret } = this.client;
    return 'value' in secret ? secret.value : readFileSync(secret.file, 'utf8').trim();
  }
}

/** The claims of a token that is active, current, and of the type Bearer. @throws OAuthError `invalid_token` */
function activeClaims({ active, ...claims }: IntrospectionAnswer): JWTPayload {
  const refuse = (why: string) => new OAuthError(OAuthErrorCode.InvalidToken, `The access token ${why}`);
  if (!active) throw new CredentialUnknown('The access token is unknown, revoked or expired');
  if (claims.exp !== undefined && !isCurrent(claims.exp)) throw refuse('has expired');
  if (claims.nbf !== undefined && Date.now() < (claims.nbf - CLOCK_TOLERANCE_SECONDS) * 1_000)
    throw refuse('is not valid yet');
  if (claims.token_type !== undefined && claims.token_type.toLowerCase() !== 'bearer')
    throw refuse(`has the type ${claims.token_type}; expected Bearer`);
  return claims as JWTPayload;
}

/** HTTP Basic with form-encoded ID and secret (RFC 6749, section 2.3.1). */
function basic(clientId: string, secret: string): string {
  const encode = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(clientId)}:${encode(secret)}`).toString('base64')}`;
}
