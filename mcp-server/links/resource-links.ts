/** Resource URIs, `longhaul://operations/{token}/...` and `longhaul://tools/{tool}`, and links to operations' resources in results. */
import type { ResourceLink } from '@modelcontextprotocol/server';
import { getMimeType, mimes } from 'hono/utils/mime';
import { artifactUri, type ChildRecord, type OperationRecord } from '../../operations/record.js';
import { tokenBeside } from '../../operations/wire/index.js';

const PREFIX = 'longhaul://operations/';
const PLAIN_TEXT = 'text/plain; charset=utf-8';
const FOLDER_TYPE = 'inode/directory';

/** MIME types that the library lacks. `.ts` is TypeScript here, not video. */
const MIME_TYPES: Record<string, string> = {
  ...mimes,
  diff: 'text/x-diff; charset=utf-8',
  jsonl: 'application/x-ndjson',
  log: PLAIN_TEXT,
  md: 'text/markdown; charset=utf-8',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
  patch: 'text/x-diff; charset=utf-8',
  tar: 'application/x-tar',
  tgz: 'application/gzip',
  ts: PLAIN_TEXT,
  tsv: 'text/tab-separated-values; charset=utf-8',
  yaml: 'application/yaml',
  yml: 'application/yaml',
};

export type ResourceAddress = { token: string } & (
  | { kind: 'result' | 'partial' }
  | { kind: 'artifact'; name: string }
  /** `parameters` select lines. */
  | { kind: 'log'; step: string; parameters: URLSearchParams }
);

/** Undefined for any other URI. */
export function parseResourceUri(uri: string): ResourceAddress | undefined {
  const match =
    /^longhaul:\/\/operations\/([^/?#]+)\/(result|partial|artifacts|logs)(?:\/([^?#]+))?(?:\?([^#]*))?$/.exec(
      uri,
    );
  const [, tokenPart = '', kind, rest, query] = match ?? [];
  let token: string;
  let name: string | undefined;
  try {
    token = decodeURIComponent(tokenPart);
    name = rest === undefined ? undefined : decodeURIComponent(rest);
  } catch {
    return undefined;
  }
  if ((kind === 'result' || kind === 'partial') && name === undefined && query === undefined)
    return { token, kind };
  if (kind === 'artifacts' && name !== undefined && query === undefined)
    return { token, kind: 'artifact', name };
  if (kind === 'logs' && name !== undefined)
    return { token, kind: 'log', step: name, parameters: new URLSearchParams(query) };
  return undefined;
}

/** Name of the documented tool. Undefined for any other URI. */
export function parseToolUri(uri: string): string | undefined {
  return /^longhaul:\/\/tools\/(\w+)$/.exec(uri)?.[1];
}

export function resultUri(token: string): string {
  return `${PREFIX}${encodeURIComponent(token)}/result`;
}

export function partialUri(token: string): string {
  return `${PREFIX}${encodeURIComponent(token)}/partial`;
}

/** @param step e.g. `build/2`, or `operation` for the operation's own log */
export function logUri(token: string, step: string): string {
  return `${PREFIX}${encodeURIComponent(token)}/logs/${encodeURIComponent(step)}`;
}

/** MIME type by the extension, or for an empty folder, with a `/` at its end, the type of folders. */
export function mimeTypeOf(name: string): string {
  if (name.endsWith('/')) return FOLDER_TYPE;
  return getMimeType(name, MIME_TYPES) ?? 'application/octet-stream';
}

/** Whether people and models can read the content as text. */
export function isTextType(mimeType: string): boolean {
  return /^text\/|[/+](json|xml|yaml|x-ndjson)(;|$)/.test(mimeType);
}

/** Links to the jobs' files. For a resumed operation, also to the earlier operation's files. */
export function artifactLinks(
  record: OperationRecord,
  children: Pick<ChildRecord, 'artifacts'>[] = record.children ?? [],
): ResourceLink[] {
  return children.flatMap(({ artifacts = [] }) =>
    artifacts.map(({ name, bytes, workflowId }) =>
      resourceLink(artifactUri(tokenBeside(record, workflowId), name), name, bytes),
    ),
  );
}

/** URIs of the jobs' files that their owner could execute. */
export function executableUris(record: OperationRecord): Set<string> {
  const files = (record.children ?? []).flatMap(({ artifacts = [] }) => artifacts);
  return new Set(
    files
      .filter(({ isExecutable }) => isExecutable)
      .map(({ name, workflowId }) => artifactUri(tokenBeside(record, workflowId), name)),
  );
}

/** Links to the files in a tool's result: objects with a file's resource URI as `uri`. */
export function linksIn(result: unknown): ResourceLink[] {
  if (typeof result !== 'object' || result === null) return [];
  return Object.values(result).flatMap((value: unknown) => {
    const { uri, bytes } = (value ?? {}) as { uri?: unknown; bytes?: unknown };
    const address = typeof uri === 'string' ? parseResourceUri(uri) : undefined;
    if (address?.kind !== 'artifact') return [];
    return [resourceLink(uri as string, address.name, typeof bytes === 'number' ? bytes : undefined)];
  });
}

export function resourceLink(uri: string, name: string, bytes?: number): ResourceLink {
  return {
    type: 'resource_link',
    uri,
    name,
    mimeType: mimeTypeOf(name),
    size: bytes,
  };
}
