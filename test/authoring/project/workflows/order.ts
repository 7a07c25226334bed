export async function order(input: Record<string, unknown>) {
  return input;
}
