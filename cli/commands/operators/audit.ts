import type { Command } from 'commander';
import { selectAuditLines, type AuditLine } from '../../../mcp-server/audit/log/select.js';
import { addJsonFlag, isJson, runReporting, since, timeOfSince } from '../../client/command.js';
import { usageFailure } from '../../client/failures.js';
import { print, printJson } from '../../console.js';
import { CommandFailure } from '../../failure.js';
import { settingsOf } from '../../settings-flags.js';
import { textTable } from '../../terminal/table.js';

const HELP = `
A server that is started with --audit-log FOLDER records there who started, read, answered, cancelled, resumed and deleted
what, and who was refused. This command reads the files, and needs no server.
`;

interface AuditFlags {
  principal?: string;
  operation?: string;
  event?: string;
  since?: number | string;
}

/** `longhaul audit`. Reads the folder of the audit log. */
export function define(command: Command): void {
  command
    .option('--principal <name>', 'lines of this principal: TENANT/SUBJECT, percent-encoded, or anonymous')
    .option('--operation <token>', 'lines about this operation')
    .option('--event <name>', 'lines of this event, or of all that begin so: operation, operation.start')
    .option(
      '--since <time>',
      'lines from then on: 2026-11-21, 2026-11-21T12:00:00Z, or an age such as 2h',
      since,
    );
  addJsonFlag(command).addHelpText('after', HELP);
  runReporting(command, async () => {
    const { auditLog } = await settingsOf(command);
    if (auditLog === undefined) throw usageFailure('expected --audit-log, the folder of the audit log');
    const flags = command.opts<AuditFlags>();
    const from = flags.since === undefined ? undefined : timeOfSince(flags.since, new Date());
    const lines = await selectAuditLines(auditLog, { ...flags, since: from }).catch((error: unknown) => {
      throw unreadable(auditLog, error);
    });
    if (isJson(command)) for (const line of lines) printJson(line);
    else print(tableOf(lines));
  });
}

function unreadable(folder: string, error: unknown): unknown {
  if ((error as NodeJS.ErrnoException).syscall === undefined) return error;
  return new CommandFailure(
    `${folder}: expected the folder of an audit log; got ${(error as Error).message}`,
  );
}

function tableOf(lines: AuditLine[]): string {
  if (lines.length === 0) return 'No lines.';
  return textTable([
    ['TIME', 'EVENT', 'OUTCOME', 'PRINCIPAL', 'FROM', 'OPERATION', 'TOOL'],
    ...lines.map(({ time, event, outcome, principal, protocol, transport, address, operation, tool }) => {
      const from = [protocol, address ?? transport].filter(Boolean).join(' ');
      return [time, event, outcome ?? '', principal ?? '', from, operation ?? '', tool ?? ''];
    }),
  ]);
}
