import type { Command } from 'commander';
import { clientCommand, isJson, printJson, telling } from '../client/command.js';
import { EXIT } from '../client/exit-codes.js';
import { print } from '../console.js';
import { settingsOf } from '../settings-flags.js';

/** `longhaul doctor`. */
export function registerDoctor(program: Command): void {
  const command = clientCommand(program, 'doctor', 'check that everything that is needed is there').action(
    () =>
      telling(
        command,
        () => undefined,
        async () => {
          const [settings, { serverUrlOf }, checks, { oneLine }] = await Promise.all([
            settingsOf(command),
            import('../client/session.js'),
            import('../client/doctor.js'),
            import('../client/table.js'),
          ]);
          const groups = await Promise.all([
              checks.checkSettings(settings, command.optsWithGlobals()),
            checks.checkDisk(settings),
            checks.checkBinary(settings),
            checks.checkTemporal(settings),
            checks.checkServer(await serverUrlOf(command)),
          ]);
          const findings = [checks.checkNode(), ...groups.flat()];
          const ok = findings.every(({ status }) => status !== 'fail');
          if (isJson(command)) printJson({ ok, findings });
          else {
            for (const { status, check, detail, advice } of findings) {
              print(`${status.padEnd(4)}  ${check.padEnd(15)}  ${oneLine(detail)}`);
              if (advice) print(`${' '.repeat(23)}-> ${advice}`);
            }
          }
          process.exitCode = ok ? EXIT.ok : EXIT.failed;
        },
      ),
  );
}
