/**
 * Token introspection (RFC 7662): the issuer says whether a token is valid, and whose it is. Answers are cached by the token's digest
 * for a few seconds, and concurrent requests share one question. Requests, open streams and floods of one wrong token therefore don't
 * ask again and again.
 */
import { createHash } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import { z } from 'zod';
import { CredentialUnknown, InvalidToken, type Unavailability } from './challenge.js';
import { CLOCK_TOLERANCE_SECONDS, FAILURE_PAUSE_MS, fetchOk, isCurrent } from './jwt.js';

const MAX_AGE_MS = 5_000;
/** Age at which an answer for open requests and streams is refreshed, in milliseconds. Checks are a second apart. */
const HELD_AGE_MS = 3_000;
/** How long open requests and streams stay while the authorization server doesn't answer, in milliseconds. */
const UNCONFIRMED_LIMIT_MS = 60_000;
/** Maximum answers kept about once valid tokens, and as many about tokens that never were. */
const MAX_ANSWERS = 10_000;
const MAX_QUESTIONS = 32;
/** Maximum waiting questions of each order about tokens that weren't valid so far. */
const MAX_WAITING = 1_000;
/** Order of questions, highest first: new tokens may be many, and suspects' tokens are probably wrong. */
const ORDER = { held: 3, valid: 2, new: 1, suspect: 0 };

export interface IntrospectionEndpoint {
  url: string;
  /** Whether client ID and secret go into the body, because the server doesn't accept HTTP Basic. */
  usesPost: boolean;
}

export interface IntrospectionClient {
  clientId: string;
  secret: () => string;
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

interface Known {
  answer: IntrospectionAnswer;
  /** `performance.now()` at the question. The token may have been revoked since. */
  atMs: number;
  /** Whether the token is or was valid. */
  wasValid: boolean;
}

export class Introspection {
  /** Token digest -> the latest answer. Wrong tokens don't displace valid ones. */
  readonly #valid = new LRUCache<string, Known>({ max: MAX_ANSWERS });
  readonly #invalid = new LRUCache<string, Known>({ max: MAX_ANSWERS });
  readonly #asking = new Map<string, Promise<Known>>();
  readonly #questions = new PQueue({ concurrency: MAX_QUESTIONS });

  constructor(
    private readonly client: IntrospectionClient,
    private readonly endpoint: () => Promise<IntrospectionEndpoint>,
    private readonly unavailable: Unavailability,
  ) {}

  /**
   * @param given `isSigned`: the signature was verified, so it is no guess. `isSuspect`: many wrong tokens came from the same
   *   place, so others go first
   * @param accept converts the claims; throws an OAuthError for unacceptable ones
   * @returns what `accept` made, and whether the token is still valid and acceptable as far as known
   * @throws OAuthError `invalid_token`; {@link CredentialUnknown} for a token that was never known to be valid
   * @throws AuthenticationUnavailable
   */
  async check<Accepted>(
    { token, isSigned, isSuspect }: { token: string; isSigned: boolean; isSuspect: boolean },
    accept: (claims: JWTPayload) => Accepted,
  ): Promise<{ accepted: Accepted; isValid: () => boolean }> {
    const digest = createHash('sha256').update(token).digest('base64');
    let known = this.#valid.get(digest) ?? this.#invalid.get(digest);
    if (!known || performance.now() - known.atMs > MAX_AGE_MS) {
      const unknown = isSuspect ? 'suspect' : 'new';
      known = await this.#ask(digest, token, isSigned || known?.wasValid ? 'valid' : unknown);
    }
    const accepted = accept(activeClaims(known));
    return { accepted, isValid: this.#watch(digest, token, known, accept) };
  }

  /** Whether a token is still valid by the latest answer, which this refreshes in the background. */
  #watch(
    digest: string,
    token: string,
    first: Known,
    accept: (claims: JWTPayload) => unknown,
  ): () => boolean {
    let latest = first;
    let askedAtMs = first.atMs;
    return () => {
      latest = this.#valid.get(digest) ?? latest;
      const nowMs = performance.now();
      if (nowMs - latest.atMs > UNCONFIRMED_LIMIT_MS) return false;
      if (nowMs - Math.max(latest.atMs, askedAtMs) > HELD_AGE_MS) {
        askedAtMs = nowMs;
        this.#ask(digest, token, 'held').then(
          (known) => (latest = known),
          () => undefined,
        );
      }
      try {
        accept(activeClaims(latest));
        return true;
      } catch {
        return false;
      }
    };
  }

  /** Asks about each token once at a time. @throws AuthenticationUnavailable */
  #ask(digest: string, token: string, order: keyof typeof ORDER): Promise<Known> {
    const asked = this.#asking.get(digest);
    if (asked) return asked;
    const priority = ORDER[order];
    const wasValid = priority > ORDER.new;
    if (!wasValid && this.#questions.sizeBy({ priority }) >= MAX_WAITING)
      return Promise.reject(this.unavailable('too many at once'));
    const ask = async () => {
      const atMs = performance.now();
      const answer = await this.#request(token);
      return this.#keep(digest, { answer, atMs, wasValid: wasValid || answer.active });
    };
    const asking = this.#questions.add(ask, { priority });
    this.#asking.set(digest, asking);
    asking.then(
      () => this.#asking.delete(digest),
      // Until then, everybody who asks about this token gets the failure.
      () => setTimeout(() => this.#asking.delete(digest), FAILURE_PAUSE_MS).unref(),
    );
    return asking;
  }

  #keep(digest: string, known: Known): Known {
    this.#invalid.delete(digest);
    const answers = known.wasValid ? this.#valid : this.#invalid;
    answers.set(digest, known);
    return known;
  }

  async #request(token: string): Promise<IntrospectionAnswer> {
    const { url, usesPost } = await this.endpoint();
    try {
      const { clientId } = this.client;
      const secret = this.client.secret();
      const body = new URLSearchParams({ token, token_type_hint: 'access_token' });
      const headers = new Headers({ accept: 'application/json' });
      if (usesPost) {
        body.set('client_id', clientId);
        body.set('client_secret', secret);
      } else headers.set('authorization', basic(clientId, secret));
      const response = await fetchOk(url, { method: 'POST', headers, body, redirect: 'error' });
      const answer = answerSchema.parse(await response.json());
      return answer.active ? answer : { active: false };
    } catch (error) {
      throw this.unavailable(`${url} does not answer`, error);
    }
  }
}

/** The claims of an active, current Bearer token. @throws OAuthError `invalid_token` */
function activeClaims({ answer: { active, ...claims }, wasValid }: Known): JWTPayload {
  const refuse = (why: string) => new InvalidToken(`The token ${why}`);
  if (!active && !wasValid) throw new CredentialUnknown('The token is unknown, revoked or expired');
  if (!active) throw refuse('is unknown, revoked or expired');
  if (claims.exp !== undefined && !isCurrent(claims.exp)) throw refuse('has expired');
  if (claims.nbf !== undefined && Date.now() < (claims.nbf - CLOCK_TOLERANCE_SECONDS) * 1_000)
    throw refuse('is not valid yet');
  if (claims.token_type !== undefined && claims.token_type.toLowerCase() !== 'bearer')
    throw refuse(`has the type ${claims.token_type}; expected Bearer`);
  return claims;
}

/** HTTP Basic with form-encoded ID and secret (RFC 6749, section 2.3.1). */
function basic(clientId: string, secret: string): string {
  const encode = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(clientId)}:${encode(secret)}`).toString('base64')}`;
}
