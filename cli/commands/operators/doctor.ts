import type { Command } from 'commander';
import type { Settings } from '../../../platform/settings/index.js';
import { addClientFlags, isJson, withErrorReporting } from '../../client/command.js';
import type { Finding } from '../../doctor/storage-check.js';
import { EXIT } from '../../client/exit-codes.js';
import { print, printJson } from '../../console.js';
import { settingsOf } from '../../settings-flags.js';

export function define(command: Command): void {
  addClientFlags(command);
  command.option('--fix', 'create missing search attributes in the namespace');
  const run = async () => {
    const findings = await examine(command);
    const ok = findings.every(({ status }) => status !== 'fail');
    if (isJson(command)) printJson({ ok, findings });
    else await printFindings(findings);
    process.exitCode = ok ? EXIT.ok : EXIT.failed;
  };
  command.action(() => withErrorReporting(command, run));
}

async function examine(command: Command): Promise<Finding[]> {
  const [settings, checks, storage] = await Promise.all([
    settingsOf(command),
    import('../../doctor/index.js'),
    import('../../doctor/storage-check.js'),
  ]);
  // A server from --url may be on another machine, so local checks don't apply.
  const isNamed = command.getOptionValueSource('url') !== undefined;
  const groups = await Promise.all([
    checks.checkSettings(settings, command.optsWithGlobals()),
    ...(isNamed
      ? []
      : [
          checks.checkHome(settings),
          checks.checkDisk(settings),
          storage.checkStorageAnswers(settings),
          checks.checkBinary(settings),
          checks.checkDatabase(settings),
          checks.checkStepProcesses(),
          checks.checkTemporal(settings, command.opts<{ fix?: boolean }>().fix === true),
        ]),
    checks.checkServer(await urlOf(command, settings)),
  ]);
  return [checks.checkNode(), ...groups.flat()];
}

/** With an unreadable home, which is its own finding, the server's address comes from the settings. */
async function urlOf(command: Command, settings: Settings): Promise<URL> {
  const [{ serverUrlOf }, { mcpUrl }] = await Promise.all([
    import('../../client/session.js'),
    import('../../../stack/readiness.js'),
  ]);
  return serverUrlOf(command).catch((error: Error) => {
    if (error.name !== 'HomeError') throw error;
    return new URL(mcpUrl(settings));
  });
}

async function printFindings(findings: Finding[]): Promise<void> {
  const { oneLine, textTable } = await import('../../terminal/table.js');
  const rows = findings.flatMap(({ status, check, detail, advice }) => [
    [status, check, oneLine(detail)],
    ...(advice ? [['', '', `-> ${oneLine(advice)}`]] : []),
  ]);
  print(textTable(rows));
}
