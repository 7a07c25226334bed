import { Context } from '@temporalio/activity';

export async function waitAnHour() {
  await Context.current().sleep('1h');
}
