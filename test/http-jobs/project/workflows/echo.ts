export async function echo({ text, times }: { text: string; times: number }) {
  return { texts: Array.from({ length: times }, () => text) };
}
