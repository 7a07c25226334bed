export async function long_letter({ letter, copies }: { letter: string; copies: number }) {
  return { text: letter.repeat(copies) };
}
