import { requestInput } from 'longhaul/workflow';
import { question } from '../tools/ask_code.js';

export async function ask_code() {
  return await requestInput(question, 'Which code?');
}
