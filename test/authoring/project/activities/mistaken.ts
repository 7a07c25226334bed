import { report, writeArtifact } from 'longhaul/activity';

export async function misreport(progress: unknown = NaN): Promise<void> {
  report({ progress: progress as number });
}

export async function misname(name: string, content: unknown): Promise<unknown> {
  return writeArtifact(name, content as string);
}
