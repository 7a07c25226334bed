import type { Command } from 'commander';
import type { Settings } from '../../../platform/settings/index.js';
import { mcpUrl } from '../../../stack/readiness.js';
import { addClientFlags, isJson, runReporting } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { serverUrlOf } from '../../client/session.js';
import { print, printJson } from '../../console.js';
import type { Finding } from '../../doctor/finding.js';
import * as checks from '../../doctor/index.js';
import { checkStorageAnswers } from '../../doctor/storage-check.js';
import { settingsOf } from '../../settings-flags.js';
import { oneLine, textTable } from '../../terminal/table.js';

export function define(command: Command): void {
  addClientFlags(command).option('--fix', 'create missing search attributes in the namespace');
  runReporting(command, async () => {
    const findings = await examine(command);
    const ok = findings.every(({ status }) => status !== 'fail');
    if (isJson(command)) printJson({ ok, findings });
    else print(tableOf(findings));
    process.exitCode = ok ? EXIT.ok : EXIT.failed;
  });
}

async function examine(command: Command): Promise<Finding[]> {
  const settings = await settingsOf(command);
  // A server from --url may be on another machine, so local checks don't apply.
  const isNamed = command.getOptionValueSource('url') !== undefined;
  const groups = await Promise.all([
    checks.checkSettings(settings, command.optsWithGlobals()),
    ...(isNamed
      ? []
      : [
          checks.checkHome(settings),
          checks.checkDisk(settings),
          checkStorageAnswers(settings),
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
  return serverUrlOf(command).catch((error: Error) => {
    if (error.name !== 'HomeError') throw error;
    return new URL(mcpUrl(settings));
  });
}

function tableOf(findings: Finding[]): string {
  const rows = findings.flatMap(({ status, check, detail, advice }) => [
    [status, check, oneLine(detail)],
    ...(advice ? [['', '', `-> ${oneLine(advice)}`]] : []),
  ]);
  return textTable(rows);
}
