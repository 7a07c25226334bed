import { ApplicationFailure, executeChild, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { partial, progress, requestInput, stage } from 'longhaul/workflow';
import type { ToolInput, ToolOutput } from 'longhaul';
import type * as activities from '../activities/research_topic.js';
import { renderReport } from '../lib/render-report.js';
import { addCritique, addFindings, beginResearch, partialOf, textsOf } from '../lib/research.js';
import type { Finding, Question, Survey } from '../lib/types.js';
import type tool from '../tools/research_topic.js';

const { surveyFolder, searchDocuments, verifyCitations, saveReport } = proxyActivities<typeof activities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '10s',
});
// These ask the model. An endpoint that is down or busy is tried again for an hour.
const { planResearch, answerQuestion, criticise } = proxyActivities<typeof activities>({
  startToCloseTimeout: '20m',
  scheduleToCloseTimeout: '1h',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '1m' },
});

type Input = ToolInput<typeof tool>;

export async function research_topic(input: Input): Promise<ToolOutput<typeof tool>> {
  const { topic, researchers } = input;
  stage('survey');
  const survey = await surveyFolder(input.folder);
  stage('plan');
  const plan = await planResearch(survey, topic, researchers);
  const research = beginResearch(topic, survey);
  if (plan.isUnreadable)
    research.notes.push('the model gave no readable plan; questions were chosen by words.');

  const asked: string[] = [];
  const declined: string[] = [];
  let questions = plan.questions;
  while (questions.length > 0 && research.rounds < input.rounds) {
    const round = (research.rounds += 1);
    asked.push(...textsOf(questions));
    progress({ total: asked.length });
    stage(`round ${round}`);
    addFindings(research, await researchAll(survey, round, questions));
    if (research.findings.every(({ isUnreadable }) => isUnreadable)) throw modelUnusable(survey);
    partial(partialOf(research));

    stage(`critic of round ${round}`);
    const critique = await criticise(survey, topic, [...asked, ...declined], research.findings, researchers);
    addCritique(research, critique, round);
    partial(partialOf(research));
    questions = critique.gaps;
    if (input.ask && round === 1 && round < input.rounds && questions.length > 0) {
      questions = await choose(questions, input.askSeconds);
      declined.push(...textsOf(critique.gaps.filter((gap) => !questions.includes(gap))));
    }
  }
  research.open = [...declined, ...textsOf(questions)];

  stage('verify');
  const { unverified, ...verified } = await verifyCitations(research);
  if (unverified > 0) verified.notes.push(leftOut(unverified));
  const claims = verified.findings.flatMap((finding) => finding.claims);
  const dropped = unverified + verified.findings.reduce((sum, finding) => sum + finding.dropped, 0);
  stage('save');
  return {
    report: renderReport(verified),
    model: survey.model,
    rounds: verified.rounds,
    documents: survey.documents,
    skipped: survey.skipped,
    statements: claims.length,
    citations: claims.reduce((sum, { citations }) => sum + citations.length, 0),
    contradictions: verified.contradictions.length,
    dropped,
    file: await saveReport(verified),
  };
}

/** One researcher, a part of the operation. */
export async function research_question(survey: Survey, round: number, question: Question): Promise<Finding> {
  stage(question.text);
  const hits = await searchDocuments(survey, question);
  const answer = await answerQuestion(survey, question, hits);
  progress({ progress: 1 });
  return { question: question.text, round, ...answer };
}

/** All questions of a round, side by side. */
async function researchAll(survey: Survey, round: number, questions: Question[]): Promise<Finding[]> {
  return Promise.all(
    questions.map((question, index) =>
      executeChild(research_question, {
        workflowId: `${workflowInfo().workflowId}.round-${round}-question-${index + 1}`,
        args: [survey, round, question],
      }),
    ),
  );
}

const leftOut = (count: number) =>
  `${count} statement${count === 1 ? ' was' : 's were'} left out: the documents have changed meanwhile.`;

function modelUnusable({ model }: Survey): ApplicationFailure {
  const message = `the model ${model} answers nothing that can be read: expected JSON`;
  return ApplicationFailure.nonRetryable(message, 'ModelUnusable');
}

/** Asks which questions the next round takes up; all of them, if nobody answers in time. */
async function choose(questions: Question[], timeoutSeconds: number): Promise<Question[]> {
  const texts = textsOf(questions);
  const schema = {
    type: 'object',
    properties: {
      questions: {
        type: 'array',
        title: 'Continue with',
        items: { type: 'string', enum: texts },
        default: texts,
      },
    },
    required: ['questions'],
  };
  const message = `Round 1 is done. Continue with which of these ${texts.length} questions? (none: the report is written now)`;
  const answer = await requestInput(schema, message, { timeoutSeconds, default: { questions: texts } });
  const chosen = answer.action === 'accept' ? (answer.content['questions'] as string[]) : [];
  return questions.filter(({ text }) => chosen.includes(text));
}
