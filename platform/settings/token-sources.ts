/** Token sources: issuers whose tokens say who a caller is, in the YAML file of the setting `tokenSources`. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { isHttpUrl } from './types.js';
import { readYamlSettings } from './yaml-file.js';

const matching = (pattern: RegExp, expected: string) => z.string(expected).regex(pattern, expected);
const text = (expected: string) => matching(/./s, expected);
const claim = text('expected the name of a claim');
const headerName = matching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'expected the name of a header');
const URL_EXPECTED = 'expected an http or https URL';
const LIST_EXPECTED = 'expected a list of token sources';

const introspection = z
  .strictObject(
    {
      'client-id': text("expected this server's client ID at the issuer"),
      'secret-file': text('expected the path of a file').optional(),
      'secret-variable': text('expected the name of an environment variable').optional(),
      /** Default: the endpoint of the issuer's metadata. */
      endpoint: z.string(URL_EXPECTED).refine(isHttpUrl, URL_EXPECTED).optional(),
      /** Whether JWTs are introspected too, so that revoked ones end. */
      jwts: z.boolean('expected true or false').default(false),
    },
    'expected a map with client-id, and secret-file or secret-variable',
  )
  .refine(
    (given) => (given['secret-file'] === undefined) !== (given['secret-variable'] === undefined),
    'expected either secret-file or secret-variable, where the secret of client-id is',
  );

const claims = z.strictObject(
  {
    /** Default: none, so all callers of the issuer are in one tenant. */
    tenant: claim.optional(),
    subject: claim.default('sub'),
    groups: claim.default('groups'),
  },
  'expected a map with tenant, subject and groups',
);

const source = z
  .strictObject(
    {
      /** The claim `iss`, compared without normalization. */
      issuer: text('expected the issuer, as in the claim iss'),
      audience: text('expected the audience of this server, as in the claim aud'),
      header: headerName.default('Authorization'),
      /** URL of a JWKS, or path of a PEM file. Default: the JWKS of the issuer's metadata. */
      keys: text('expected the URL of a JWKS, or the path of a PEM file').optional(),
      scope: matching(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'expected one OAuth scope').optional(),
      claims: claims.prefault({}),
      introspection: introspection.optional(),
    },
    'expected a map with issuer and audience',
  )
  .superRefine(({ header, issuer, audience, keys, introspection: asked }, context) => {
    const isBearer = isBearerHeader(header);
    if (isBearer && !isHttpUrl(audience))
      report(context, ['audience'], `${URL_EXPECTED}, the public one of this server's MCP endpoint`);
    if ((isBearer || keys === undefined || asked) && !isHttpUrl(issuer))
      report(context, ['issuer'], `${URL_EXPECTED}, where the issuer's metadata is`);
  });

const sources = z
  .array(source, LIST_EXPECTED)
  .min(1, LIST_EXPECTED)
  .superRefine((given, context) => {
    const headers = given.map(({ header }) => header.toLowerCase());
    for (const [at, header] of headers.entries())
      if (headers.indexOf(header) < at)
        report(context, [at, 'header'], `expected one source for each header; got ${header} again`);
  });

export type TokenSource = z.output<typeof source>;
type Introspection = z.output<typeof introspection>;

/** Whether a source's tokens are in `Authorization: Bearer`, as OAuth access tokens are. */
export function isBearerHeader(header: string): boolean {
  return header.toLowerCase() === 'authorization';
}

/** @throws SettingsError with a line for each problem, also for a key or secret that can't be read */
export function readTokenSources(path: string): TokenSource[] {
  return readSources(path, ({ keys, introspection: asked }, at, context) => {
    if (keys !== undefined && !isHttpUrl(keys)) check(context, [at, 'keys'], () => readPublicKey(keys));
    if (asked) check(context, [at, 'introspection'], () => readSecret(asked));
  });
}

/** Files with secrets of the token sources. @throws SettingsError with a line for each problem of the file itself */
export function secretFilesOf(path: string): string[] {
  return readSources(path).flatMap(({ introspection: asked }) => asked?.['secret-file'] ?? []);
}

/** The secret of this server at the issuer. @throws Error without one */
export function readSecret({ 'secret-file': file, 'secret-variable': variable = '' }: Introspection): string {
  const secret = file === undefined ? process.env[variable] : read(file, 'a secret').trim();
  if (secret) return secret;
  throw new Error(
    file === undefined
      ? `expected a secret in the environment variable ${variable}; got none`
      : `${file}: expected a secret; got an empty file`,
  );
}

/** Reads a key (SPKI) or certificate (X.509) in PEM. @throws Error with the path, without a public key or with a private one */
export function readPublicKey(path: string): KeyObject {
  const pem = read(path, 'a public key in PEM format, or the http or https URL of keys');
  // Node.js would derive the public key, and leave the private one where it doesn't belong.
  if (pem.includes('PRIVATE KEY-----'))
    throw new Error(`${path}: expected a public key in PEM format; got a private key`);
  try {
    return createPublicKey(pem);
  } catch (error) {
    throw new Error(`${path}: expected a public key or a certificate in PEM format; got something else`, {
      cause: error,
    });
  }
}

/** @param checkOne reports what this process can't use. Default: nothing */
function readSources(
  path: string,
  checkOne?: (one: TokenSource, at: number, context: z.RefinementCtx) => void,
): TokenSource[] {
  const schema = sources
    .transform((given) => given.map((one) => resolved(one, dirname(path))))
    .superRefine((given, context) => given.forEach((one, at) => checkOne?.(one, at, context)));
  return readYamlSettings(path, {
    what: 'file of token sources',
    schema,
    keys: [source, claims, introspection].flatMap(({ shape }) => Object.keys(shape)),
  });
}

/** With absolute paths. */
function resolved(given: TokenSource, folder: string): TokenSource {
  const { keys, introspection: asked } = given;
  const file = asked?.['secret-file'];
  return {
    ...given,
    keys: keys === undefined || isHttpUrl(keys) ? keys : resolve(folder, keys),
    introspection: asked && { ...asked, 'secret-file': file && resolve(folder, file) },
  };
}

function read(path: string, expected: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${path}: expected a file with ${expected}; ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function check(context: z.RefinementCtx, path: PropertyKey[], use: () => unknown): void {
  try {
    use();
  } catch (error) {
    report(context, path, (error as Error).message);
  }
}

function report(context: z.RefinementCtx, path: PropertyKey[], message: string): void {
  context.addIssue({ code: 'custom', path, message });
}
