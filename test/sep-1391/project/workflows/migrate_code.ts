import { requestInput } from 'longhaul/workflow';
import { approval } from '../tools/migrate_code.js';

/** Asks for all approvals at once. */
export async function migrate_code({ packages }: { packages: string[] }) {
  const answers = await Promise.all(packages.map((name) => requestInput(approval, `Migrate ${name}?`)));
  const isGo = (index: number) => {
    const answer = answers[index]!;
    return answer.action === 'accept' && answer.content.go;
  };
  return { migrated: packages.filter((_name, index) => isGo(index)) };
}
