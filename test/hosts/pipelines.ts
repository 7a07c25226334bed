/** Pipelines whose steps leave lines in a ledger: name of the step, and of the host. */

const INPUTS = 'inputs: { properties: { ledger: { type: string } }, required: [ledger] }';

const brief = (name: string) => `
      - { name: ${name}, idempotent: true, run: 'echo "${name} $TEST_HOST" >> "$INPUT_LEDGER"' }`;

/** Waits until the test lets it go, and shows five times a second that it runs. */
const waiting = (name: string, idempotent: boolean) => `
      - name: ${name}
        idempotent: ${idempotent}
        run: |
          echo "start ${name} $TEST_HOST" >> "$INPUT_LEDGER"
          while [ ! -e "$INPUT_LEDGER.go" ]; do
            echo "$(date +%s%3N) $TEST_HOST" >> "$INPUT_LEDGER.beats"
            sleep 0.2
          done
          echo "end ${name} $TEST_HOST" >> "$INPUT_LEDGER"`;

const approval = (name: string) => `
      - { name: ${name}, approval: { message: 'Continue?' } }`;

const risky = (name: string) => `
      - { name: ${name}, run: 'echo "${name} $TEST_HOST" >> "$INPUT_LEDGER"' }`;

const job = (
  ...steps: string[]
) => `${INPUTS}\njobs:\n  work:\n    artifacts: [kept.txt]\n    steps:${steps.join('')}
      - { name: keep, idempotent: true, run: 'echo kept > kept.txt' }`;

export const PIPELINES = {
  repeatable: job(brief('one'), waiting('two', true)),
  careful: job(brief('one'), waiting('two', false)),
  approved: job(brief('one'), approval('ask'), risky('deploy')),
  tidied: `${job(brief('one'), waiting('two', false))}
      - { name: tidy, if: always, run: 'echo "tidy $TEST_HOST" >> "$INPUT_LEDGER"' }`,
};
