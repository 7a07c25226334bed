/** Commands of a program. Their modules load once they are called or explained. */
import type { Command } from 'commander';

export const OPERATIONS = 'Tools and operations:';

export interface CommandRow {
  name: string;
  description: string;
  /** Heading in `longhaul --help`. Default: `Commands:`. */
  group?: string;
  load: () => Promise<CommandModule>;
}

export interface CommandModule {
  /** Adds arguments, options, subcommands and the action to the command, which has its name and description. */
  define: (command: Command) => void;
}

const modules = new WeakMap<Command, CommandRow['load']>();

/** Adds commands to the program. They have only a name and a description until `defineCommand`. */
export function addCommands(program: Command, rows: readonly CommandRow[]): void {
  for (const { name, description, group, load } of rows) {
    const command = program.command(name).description(description);
    if (group !== undefined) command.helpGroup(group);
    modules.set(command, load);
  }
}

/** Loads the module of a command that `addCommands` added. */
export async function defineCommand(command: Command): Promise<void> {
  (await modules.get(command)?.())?.define(command);
}
