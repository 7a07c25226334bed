export async function echo_back(input: Record<string, unknown>) {
  return input;
}
