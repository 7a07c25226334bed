import { requestInput } from 'longhaul/workflow';
import { opinion } from '../tools/interview.js';

export async function interview(input: { name: string; town: string }) {
  const answer = await requestInput(opinion, `Do you like ${input.town}?`);
  const said =
    answer.action === 'accept' ? `${answer.content.likes_it ? 'likes' : 'dislikes'}` : answer.action;
  return { said: `${input.name} ${said} ${input.town}` };
}
