/** Finds lines of an audit log that match a filter. */
import { readFile } from 'node:fs/promises';
import { auditFilesIn } from './files.js';
import type { AuditEntry } from './index.js';

export interface AuditLine extends AuditEntry {
  /** ISO 8601, UTC. */
  time: string;
  /** Position among the lines of its process, from 1. */
  sequence: number;
}

export interface AuditFilter {
  principal?: string | undefined;
  operation?: string | undefined;
  /** An event or its first words: `operation`, `operation.start`. */
  event?: string | undefined;
  /** ISO 8601. */
  since?: string | undefined;
}

/** Matching lines, oldest first. Lines of a process keep their order even if the clock was set back. @throws a file system error */
export async function selectAuditLines(folder: string, filter: AuditFilter): Promise<AuditLine[]> {
  const found: { line: AuditLine; latest: string }[] = [];
  for (const paths of auditFilesIn(folder)) {
    /** Latest time seen in this process. */
    let latest = '';
    for (const path of paths)
      for (const text of (await readFile(path, 'utf8')).split('\n')) {
        const line = parseLine(text);
        if (!line) continue;
        if (line.time > latest) latest = line.time;
        if (matches(line, filter)) found.push({ line, latest });
      }
  }
  return found.sort((one, other) => one.latest.localeCompare(other.latest)).map(({ line }) => line);
}

function matches(line: AuditLine, { principal, operation, event, since }: AuditFilter): boolean {
  return (
    (principal === undefined || line.principal === principal) &&
    (operation === undefined || isOf(line, operation)) &&
    (event === undefined || line.event === event || line.event.startsWith(`${event}.`)) &&
    (since === undefined || Date.parse(line.time) >= Date.parse(since))
  );
}

/** Others in the tenant use the operation's workflow ID, which ends with its token. */
function isOf({ operation }: AuditLine, token: string): boolean {
  return operation === token || operation?.endsWith(`.${token}`) === true;
}

/** Undefined for text that isn't a complete line of an audit log. */
function parseLine(text: string): AuditLine | undefined {
  try {
    const line = JSON.parse(text) as AuditLine | null;
    const isLine =
      typeof line?.sequence === 'number' && typeof line.time === 'string' && typeof line.event === 'string';
    return isLine ? line : undefined;
  } catch {
    return undefined;
  }
}
