/** Runs the fixture workflows of a worker that implements the runtime contract, and checks what they publish. */
import { checkCancel, checkPartial } from './endings.js';
import { Fixture, FixtureStopped, type CheckResult, type ConformanceOptions } from './fixture.js';
import { checkHeartbeat, checkProgress } from './progress.js';
import { checkContinue, checkQuestion } from './questions.js';

const FIXTURES: [name: string, level: number, check: (fixture: Fixture) => Promise<void>][] = [
  ['ContractHeartbeat', 1, checkHeartbeat],
  ['ContractProgress', 2, checkProgress],
  ['ContractQuestion', 3, checkQuestion],
  ['ContractContinue', 3, checkContinue],
  ['ContractPartial', 4, checkPartial],
  ['ContractCancel', 4, checkCancel],
];

/** Runs all fixtures up to a level concurrently. */
export async function runConformance(options: ConformanceOptions, level: number): Promise<CheckResult[]> {
  const selected = FIXTURES.filter(([, least]) => least <= level);
  const results = await Promise.all(
    selected.map(async ([name, least, check]) => {
      const fixture = new Fixture(name, least, options);
      try {
        await check(fixture);
      } catch (error) {
        if (!(error instanceof FixtureStopped)) throw error;
      } finally {
        await fixture.finish();
        await fixture.end();
      }
      return fixture.results;
    }),
  );
  return results.flat();
}
