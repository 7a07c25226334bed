/** Lines of an audit log that match a filter. */
import { readFile } from 'node:fs/promises';
import { auditFilesIn } from './files.js';
import { parseLine, type AuditLine } from './line.js';

export interface AuditFilter {
  principal?: string | undefined;
  operation?: string | undefined;
  /** An event, or the beginning of its name: `operation`, `operation.start`. */
  event?: string | undefined;
  /** ISO 8601. */
  since?: string | undefined;
}

/**
 * Matching lines of all processes, the oldest first; those of a process in the order in which they were written, also where the clock
 * was set back.
 *
 * @throws an error of the file system
 */
export async function selectAuditLines(folder: string, filter: AuditFilter): Promise<AuditLine[]> {
  const found: { line: AuditLine; latest: string }[] = [];
  for (const paths of auditFilesIn(folder)) {
    /** Time that the process has reached. */
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

/** The workflow ID of an operation, by which others of the tenant name it, ends with its token. */
function isOf({ operation }: AuditLine, token: string): boolean {
  return operation === token || operation?.endsWith(`.${token}`) === true;
}
