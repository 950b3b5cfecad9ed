/** An answer of the API server above the size limit. */
export class OversizedAnswer extends Error {
  override readonly name = 'OversizedAnswer';

  constructor(mostBytes: number) {
    super(`the answer is larger than ${mostBytes} bytes`);
  }
}

/** Reads a body to its end. Throws if it exceeds `mostBytes`. */
export async function textIn(body: AsyncIterable<Uint8Array>, mostBytes: number): Promise<AnswerText> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new OversizedAnswer(mostBytes);
    chunks.push(chunk);
  }
  return { text: Buffer.concat(chunks, bytes).toString(), bytes };
}

/** The text of an answer, and its size on the wire. */
export interface AnswerText {
  readonly text: string;
  readonly bytes: number;
}
