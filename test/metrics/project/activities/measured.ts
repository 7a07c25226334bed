import { report } from 'longhaul/activity';

export async function reportTwice() {
  report({ progress: 1, total: 2 });
  report({ progress: 2, total: 2 });
  return { done: true };
}
