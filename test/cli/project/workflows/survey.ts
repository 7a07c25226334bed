import { requestInput } from 'longhaul/workflow';
import { survey as questions } from '../tools/survey.js';

export async function survey() {
  return requestInput(questions, 'What would you like?');
}
