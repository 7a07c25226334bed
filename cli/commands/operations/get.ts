import { mkdir } from 'node:fs/promises';
import type { Command } from 'commander';
import { listArtifacts, openArtifact, saveTo, type ListedArtifacts } from '../../client/jobs-api.js';
import { addClientFlags, isJson, printOutput, runAgainstServer } from '../../client/command.js';
import { usageFailure } from '../../client/failures.js';
import { printJson, say, writeBytes } from '../../console.js';
import { oneLine, textTable } from '../../terminal/table.js';

/** Type of an empty folder. */
const FOLDER_TYPE = 'inode/directory';

export function define(command: Command): void {
  addClientFlags(command)
    .argument('<token>')
    .argument('[artifact]', 'name of the file')
    .option('-o, --output <file>', 'where to write it (default: standard output)');
  runAgainstServer(command, async (session, token: string, name: string | undefined) => {
    const { output } = command.opts<{ output?: string }>();
    if (name === undefined) {
      const listed = await listArtifacts(session, token);
      return printOutput(command, listed, () => textOf(listed));
    }
    if (output === undefined) {
      if (!process.stdout.isTTY) return writeBytes(await openArtifact(session, token, name));
      const file = `--output=${name.split('/').at(-1)}`;
      throw usageFailure(
        `-o: expected a file, since standard output is a terminal: ${session.hint('get', token, name, file)}`,
      );
    }
    const { artifacts } = await listArtifacts(session, token);
    const listed = artifacts.find((one) => one.name === name);
    if (listed?.content_type === FOLDER_TYPE) await mkdir(output, { recursive: true });
    else await saveTo(output, await openArtifact(session, token, name), listed?.executable);
    if (isJson(command)) printJson({ artifact: name, file: output });
    else say(`${name} is in ${output}`);
  });
}

function textOf({ artifacts, unsaved = [] }: ListedArtifacts): string {
  const files = artifacts.map(({ name, bytes, content_type }) => [
    oneLine(name),
    String(bytes ?? ''),
    content_type,
  ]);
  const lost = unsaved.map(({ job, path, reason }) => [job, path, reason].map(oneLine));
  return [
    files.length ? textTable([['NAME', 'BYTES', 'TYPE'], ...files]) : 'No files.',
    ...(lost.length ? ['', 'Not saved:', textTable(lost)] : []),
  ].join('\n');
}
