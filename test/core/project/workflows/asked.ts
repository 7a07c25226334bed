import { requestInput } from 'longhaul/workflow';
import { approval } from '../tools/asked.js';

export async function asked() {
  return { answer: await requestInput(approval, 'Continue?') };
}
