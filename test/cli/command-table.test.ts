/** The table of commands, and which command's module a command line loads. */
import { basename } from 'node:path';
import { expect, test } from '@jest/globals';
import { Command } from 'commander';
import { globSync } from 'tinyglobby';
import { findCalled } from '../../cli/client/argv.js';
import { COMMANDS as OWN_COMMANDS } from '../../cli/command-table.js';
import { addCommands, defineCommand, type CommandModule } from '../../cli/lazy-commands.js';
import { addSettingsFlags } from '../../cli/settings-flags.js';
import { MOUNTED_COMMANDS } from '../../mounts.js';

const COMMANDS = [...OWN_COMMANDS, ...MOUNTED_COMMANDS];
const program = new Command('longhaul').version('1');
addSettingsFlags(program);
addCommands(program, COMMANDS);

test('every module of a command has one row, which loads it', async () => {
  const files = globSync(['cli/commands/*/*.ts', 'mailbox/cli/*.ts']);
  const modules = new Map<string, CommandModule>();
  for (const file of files) {
    const module = (await import(`../../${file}`)) as Partial<CommandModule>;
    if (module.define) modules.set(basename(file, '.ts'), module as CommandModule);
    else expect(file).toMatch(/^mailbox/);
  }
  expect(COMMANDS.map(({ name }) => name).sort()).toEqual([...modules.keys()].sort());
  for (const { name, load } of COMMANDS) expect([name, await load()]).toEqual([name, modules.get(name)]);
});

test.each(COMMANDS)('the module of $name keeps its name, description and group', async (row) => {
  const command = program.commands.find((one) => one.name() === row.name)!;
  await defineCommand(command);
  expect(command.description()).toBe(row.description);
  expect(command.helpGroup()).toBe(row.group ?? '');
});

test.each([
  ['list', 'list'],
  ['list --tool call', 'list'],
  ['--home x list', 'list'],
  ['--home=x list --help', 'list'],
  ['-- list', 'list'],
  ['help list', 'list'],
  ['--port 1 help --host x list', 'list'],
  ['--version list', 'list'],
  ['call help', 'call'],
  ['', undefined],
  ['help', undefined],
  ['unknown list', undefined],
  ['--home list', undefined],
  // Commander gives these to the program.
  ['--help list', undefined],
  ['--json list', undefined],
  ['help --json list', undefined],
])('`longhaul %s` calls %s', (line, name) => {
  const called = findCalled(line.split(' ').filter(Boolean), program);
  expect(called?.name()).toBe(name);
});
