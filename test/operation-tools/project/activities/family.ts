import { writeArtifact } from 'longhaul/activity';

export async function leaveFile(name: string): Promise<void> {
  await writeArtifact(name, 'left behind');
}
