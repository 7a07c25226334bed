import type { Command } from 'commander';
import type { AuditLine } from '../../platform/audit-log/line.js';
import type { Verification, VerifiedChain } from '../../platform/audit-log/verify.js';
import { isJson, withErrorReporting } from '../client/command.js';
import { EXIT } from '../client/exit-codes.js';
import { usageFailure } from '../client/failures.js';
import { print, printJson, say } from '../console.js';
import { CommandFailure } from '../failure.js';
import { settingsOf } from '../settings-flags.js';

const HELP = `
A server that is started with --audit-log FOLDER records there who started, read, answered, cancelled, resumed and deleted
what, and who was refused. These commands read the files, and need no server.
`;

const VERIFY_HELP = `
Each line holds the hash of the line before it, so a line that was edited, removed, moved or inserted is found. Lines cut off
the end are found if a later process began a chain (its first line refers to the end of the earlier ones), or if a hash from
before is given with --head: keep the printed heads where nobody who can write the folder can change them. With the home's
secret (LONGHAUL_SECRET, or the file in --home) the lines' MACs are checked too, which nobody can make without it.

Exit code: 0 when the log is as it was written, 1 when it isn't, 2 for wrong usage.`;

/** Problems that are printed; --json has all. */
const MOST_PRINTED = 20;

/** `longhaul audit` and `longhaul audit verify`. They read the folder of the audit log. */
export function define(audit: Command): void {
  audit
    .option('--principal <name>', 'lines of this principal: TENANT/SUBJECT, percent-encoded, or anonymous')
    .option('--operation <token>', 'lines about this operation')
    .option('--event <name>', 'lines of this event, or of all that begin so: operation, operation.start')
    .option('--since <time>', 'lines from this time on (ISO 8601)')
    .option('--json', 'print the lines as they are in the files')
    .addHelpText('after', HELP);
  audit.action(() =>
    withFolder(audit, undefined, async (folder) => {
      const { selectAuditLines } = await import('../../platform/audit-log/select.js');
      const filter = audit.opts<Partial<Record<'principal' | 'operation' | 'event' | 'since', string>>>();
      assertTime('--since', filter.since);
      const lines = await selectAuditLines(folder, filter);
      if (isJson(audit)) for (const line of lines) printJson(line);
      else print(await tableOf(lines));
    }),
  );
  const verify = audit
    .command('verify')
    .description('check that no line was edited, removed, moved, inserted or cut off')
    .argument('[folder]', 'folder of the audit log (default: --audit-log)')
    .option('--head <hash>', 'a hash that a line must have; can be repeated', collected)
    .option('--removed-before <time>', 'files from before this time may have been removed (ISO 8601)')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', VERIFY_HELP);
  verify.action((operand: string | undefined) =>
    withFolder(verify, operand, async (folder, home) => {
      const [{ verifyAuditLog }, { readSecret }] = await Promise.all([
        import('../../platform/audit-log/verify.js'),
        import('../../platform/secret.js'),
      ]);
      const { head = [], removedBefore } = verify.opts<{ head?: string[]; removedBefore?: string }>();
      assertTime('--removed-before', removedBefore);
      for (const hash of head)
        if (!/^[0-9a-f]{64}$/.test(hash))
          throw usageFailure(`--head: expected 64 hexadecimal digits; got ${JSON.stringify(hash)}`);
      const found = await verifyAuditLog(folder, { secret: readSecret(home), heads: head, removedBefore });
      const ok = found.problems.length === 0;
      if (isJson(verify)) printJson({ ok, folder, ...found });
      else printVerification(folder, found);
      process.exitCode = ok ? EXIT.ok : EXIT.failed;
    }),
  );
}

function withFolder(
  command: Command,
  operand: string | undefined,
  run: (folder: string, home: string) => Promise<void>,
): Promise<void> {
  return withErrorReporting(
    command,
    () => undefined,
    async () => {
      const { auditLog, home } = await settingsOf(command);
      const folder = operand ?? auditLog;
      if (folder === undefined) throw usageFailure('expected --audit-log, the folder of the audit log');
      try {
        await run(folder, home);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
        throw new CommandFailure(
          `${folder}: expected the folder of an audit log; got ${(error as Error).message}`,
        );
      }
    },
  );
}

/** @throws CommandFailure */
function assertTime(flag: string, text: string | undefined): void {
  if (text !== undefined && Number.isNaN(Date.parse(text)))
    throw usageFailure(`${flag}: expected a time such as 2026-11-23T15:00:00Z; got ${JSON.stringify(text)}`);
}

function collected(value: string, before: string[] = []): string[] {
  return [...before, value];
}

async function tableOf(lines: AuditLine[]): Promise<string> {
  if (lines.length === 0) return 'No lines.';
  const { textTable } = await import('../client/table.js');
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

function printVerification(folder: string, { chains, problems, others, areMacsChecked }: Verification): void {
  for (const chain of chains) print(chainLine(chain));
  for (const { file, line, expected, came } of problems.slice(0, MOST_PRINTED))
    print(`${file}${line === undefined ? '' : `:${line}`}: expected ${expected}; got ${came}`);
  if (problems.length > MOST_PRINTED) print(`... and ${problems.length - MOST_PRINTED} further problems`);
  const lines = chains.reduce((sum, chain) => sum + chain.lines, 0);
  const counts = `${lines} lines in ${counted(chains.length, 'chain')}`;
  print(
    problems.length > 0
      ? `${folder}: NOT as written: ${counted(problems.length, 'problem')} in ${counts}`
      : `${folder}: as written, ${counts}`,
  );
  if (others.length > 0) say(`not part of the log: ${others.join(', ')}`);
  if (!areMacsChecked) say('MACs not checked: no secret of the home (--home, LONGHAUL_SECRET)');
}

function chainLine({ chain, lines, files, from, to, end, missing, hash }: VerifiedChain): string {
  const ends = {
    closed: 'closed',
    open: 'open: its process runs, or was killed',
    torn: 'open, its last line incomplete: its process was killed as it wrote, or is writing',
  };
  const gap = missing > 0 ? `, ${missing} lines could not be written` : '';
  return `${chain}: ${lines} lines in ${counted(files, 'file')}, ${from} to ${to}, ${ends[end]}${gap}, head ${hash}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
