/** A sentence for the person at the keyboard: printed as it is, without a stack. */
export class Complaint extends Error {
  override readonly name = 'Complaint';
}

/** Runs a command-line program: a complaint is a sentence on stderr, anything else keeps its stack. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    process.stderr.write(`${error instanceof Complaint ? error.message : describe(error)}\n`);
    process.exitCode = 1;
  }
}

const describe = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
