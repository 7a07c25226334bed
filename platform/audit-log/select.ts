/** Finds lines of an audit log that match a filter. */
import { readFile } from 'node:fs/promises';
import { auditFilesIn } from './files.js';
import { parseLine, type AuditLine } from './line.js';

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
