import type { Command } from 'commander';
import { print, printJson, say, writeBytes } from '../console.js';
import { addClientFlags, isJson, runAgainstServer } from '../client/command.js';
import { EXIT } from '../client/exit-codes.js';
import { CommandFailure } from '../failure.js';

/** `longhaul get`. */
export function define(command: Command): void {
  addClientFlags(command)
    .argument('<token>')
    .argument('[artifact]', 'name of the file')
    .option('-o, --output <file>', 'where to write it (default: standard output)');
  runAgainstServer(command, async (session, token: string, name: string | undefined) => {
    const { output } = command.opts<{ output?: string }>();
    const { listArtifacts, openArtifact, saveTo } = await import('../client/artifacts.js');
    if (name === undefined) {
      const artifacts = await listArtifacts(session, token);
      if (isJson(command)) printJson({ artifacts });
      else print(artifacts.length ? await tableOf(artifacts) : 'No files.');
      return EXIT.ok;
    }
    if (output === undefined && process.stdout.isTTY)
      throw new CommandFailure(
        `-o: expected a file, since standard output is a terminal: ${session.hint('get', token, [name, `--output=${name.split('/').at(-1)}`])}`,
        EXIT.usage,
      );
    const artifact = await openArtifact(session, token, name);
    if (output === undefined) {
      await writeBytes(artifact);
      return EXIT.ok;
    }
    await saveTo(output, artifact);
    if (isJson(command)) printJson({ artifact: name, file: output });
    else say(`${name} is in ${output}`);
    return EXIT.ok;
  });
}

async function tableOf(artifacts: { name: string; bytes?: number; content_type: string }[]): Promise<string> {
  const { oneLine, textTable } = await import('../client/table.js');
  return textTable([
    ['NAME', 'BYTES', 'TYPE'],
    ...artifacts.map(({ name, bytes, content_type }) => [oneLine(name), String(bytes ?? ''), content_type]),
  ]);
}
