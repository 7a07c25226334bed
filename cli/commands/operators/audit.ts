import type { Command } from 'commander';
import type { AuditLine } from '../../../mcp-server/audit/log/select.js';
import { isJson, withErrorReporting } from '../../client/command.js';
import { usageFailure } from '../../client/failures.js';
import { print, printJson } from '../../console.js';
import { CommandFailure } from '../../failure.js';
import { settingsOf } from '../../settings-flags.js';

const HELP = `
A server that is started with --audit-log FOLDER records there who started, read, answered, cancelled, resumed and deleted
what, and who was refused. This command reads the files, and needs no server.
`;

/** `longhaul audit`. Reads the folder of the audit log. */
export function define(command: Command): void {
  command
    .option('--principal <name>', 'lines of this principal: TENANT/SUBJECT, percent-encoded, or anonymous')
    .option('--operation <token>', 'lines about this operation')
    .option('--event <name>', 'lines of this event, or of all that begin so: operation, operation.start')
    .option('--since <time>', 'lines from this time on (ISO 8601)')
    .option('--json', 'print the lines as they are in the files')
    .addHelpText('after', HELP);
  command.action(() =>
    withErrorReporting(command, async () => {
      const { auditLog } = await settingsOf(command);
      if (auditLog === undefined) throw usageFailure('expected --audit-log, the folder of the audit log');
      const filter = command.opts<Partial<Record<'principal' | 'operation' | 'event' | 'since', string>>>();
      assertTime('--since', filter.since);
      const { selectAuditLines } = await import('../../../mcp-server/audit/log/select.js');
      const lines = await selectAuditLines(auditLog, filter).catch((error: unknown) => {
        throw unreadable(auditLog, error);
      });
      if (isJson(command)) for (const line of lines) printJson(line);
      else print(await tableOf(lines));
    }),
  );
}

function unreadable(folder: string, error: unknown): unknown {
  if ((error as NodeJS.ErrnoException).syscall === undefined) return error;
  return new CommandFailure(
    `${folder}: expected the folder of an audit log; got ${(error as Error).message}`,
  );
}

/** @throws CommandFailure */
function assertTime(flag: string, text: string | undefined): void {
  if (text !== undefined && Number.isNaN(Date.parse(text)))
    throw usageFailure(`${flag}: expected a time such as 2026-11-23T15:00:00Z; got ${JSON.stringify(text)}`);
}

async function tableOf(lines: AuditLine[]): Promise<string> {
  if (lines.length === 0) return 'No lines.';
  const { textTable } = await import('../../terminal/table.js');
  return textTable([
    ['TIME', 'EVENT', 'OUTCOME', 'PRINCIPAL', 'FROM', 'OPERATION', 'TOOL'],
    ...lines.map(({ time, event, outcome, principal, protocol, transport, address, operation, tool }) => [
      time,
      event,
      outcome ?? '',
      principal ?? '',
      [protocol, address ?? transport].filter(Boolean).join(' '),
      operation ?? '',
      tool ?? '',
    ]),
  ]);
}
