import { Option, type Command } from 'commander';
import { addClientFlags, isJson, runAgainstServer } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import type { Session } from '../../client/session.js';
import { print, printJson } from '../../console.js';
import { jsonText } from '../../terminal/terminal-text.js';
import { CommandFailure } from '../../failure.js';

export function define(command: Command): void {
  addClientFlags(command)
    .argument('<token>')
    .option('--wait', 'wait until it is available')
    .addOption(
      new Option('--partial', 'print what is finished so far, as JSON, also of one that failed').conflicts(
        'wait',
      ),
    );
  runAgainstServer(command, async (session, token: string) => {
    const [{ isClosed }, { exitCodeOf, printOutcome }] = await Promise.all([
      import('../../client/wire.js'),
      import('../../follow/outcome.js'),
    ]);
    const options = command.opts<{ wait?: boolean; partial?: boolean }>();
    let task = await session.task(token);
    if (options.partial) {
      await printPartial(session, token, { isLine: isJson(command), isOpen: !isClosed(task) });
      return EXIT.ok;
    }
    if (!isClosed(task)) {
      if (!options.wait) {
        throw new CommandFailure(
          `${token}: no result yet, it is ${task.status}; wait for it with: ${session.hint('result', token, ['--wait'])}`,
          EXIT.unfinished,
        );
      }
      const [{ follow }, { createQuietView }] = await Promise.all([
        import('../../follow/follow.js'),
        import('../../terminal/views.js'),
      ]);
      task = await follow(session, command, token, { isKnown: true, view: createQuietView(isJson(command)) });
    }
    if (isJson(command)) printJson(task);
    else printOutcome(task);
    return exitCodeOf(task);
  });
}

/** @throws CommandFailure if there is none, Unreachable */
async function printPartial(
  session: Session,
  token: string,
  { isLine, isOpen }: { isLine: boolean; isOpen: boolean },
): Promise<void> {
  const { readPartial } = await import('../../client/artifacts.js');
  const partial = await readPartial(session, token);
  if (partial === undefined)
    throw new CommandFailure(
      `${token}: no partial result${isOpen ? ' yet' : ''}`,
      isOpen ? EXIT.unfinished : EXIT.failed,
    );
  if (isLine) printJson({ token, partial });
  else print(jsonText(partial, 2));
}
