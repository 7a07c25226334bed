import { mkdir } from 'node:fs/promises';
import type { Command } from 'commander';
import { print, printJson, say, writeBytes } from '../../console.js';
import { addClientFlags, isJson, runAgainstServer } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import type { ListedUnsaved } from '../../client/artifacts.js';
import { CommandFailure } from '../../failure.js';

/** Type of an empty folder. */
const FOLDER_TYPE = 'inode/directory';

export function define(command: Command): void {
  addClientFlags(command)
    .argument('<token>')
    .argument('[artifact]', 'name of the file')
    .option('-o, --output <file>', 'where to write it (default: standard output)');
  runAgainstServer(command, async (session, token: string, name: string | undefined) => {
    const { output } = command.opts<{ output?: string }>();
    const { listArtifacts, openArtifact, saveTo } = await import('../../client/artifacts.js');
    if (name === undefined) {
      const listed = await listArtifacts(session, token);
      const { artifacts, unsaved = [] } = listed;
      if (isJson(command)) printJson(listed);
      else {
        print(artifacts.length ? await tableOf(artifacts) : 'No files.');
        if (unsaved.length) print(`\nNot saved:\n${await tableOfUnsaved(unsaved)}`);
      }
      return EXIT.ok;
    }
    if (output === undefined && process.stdout.isTTY)
      throw new CommandFailure(
        `-o: expected a file, since standard output is a terminal: ${session.hint('get', token, [name, `--output=${name.split('/').at(-1)}`])}`,
        EXIT.usage,
      );
    if (output === undefined) {
      await writeBytes(await openArtifact(session, token, name));
      return EXIT.ok;
    }
    const { artifacts } = await listArtifacts(session, token);
    const listed = artifacts.find((one) => one.name === name);
    if (listed?.content_type === FOLDER_TYPE) await mkdir(output, { recursive: true });
    else await saveTo(output, await openArtifact(session, token, name), listed?.executable);
    if (isJson(command)) printJson({ artifact: name, file: output });
    else say(`${name} is in ${output}`);
    return EXIT.ok;
  });
}

async function tableOf(artifacts: { name: string; bytes?: number; content_type: string }[]): Promise<string> {
  const { oneLine, textTable } = await import('../../terminal/table.js');
  return textTable([
    ['NAME', 'BYTES', 'TYPE'],
    ...artifacts.map(({ name, bytes, content_type }) => [oneLine(name), String(bytes ?? ''), content_type]),
  ]);
}

async function tableOfUnsaved(unsaved: ListedUnsaved[]): Promise<string> {
  const { oneLine, textTable } = await import('../../terminal/table.js');
  return textTable(unsaved.map(({ job, path, reason }) => [oneLine(job), oneLine(path), oneLine(reason)]));
}
