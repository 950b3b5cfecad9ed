/** An error for the user: its message is printed without a stack. */
export class UserError extends Error {
  override readonly name = 'UserError';
}

/** Runs a command-line program. A UserError is printed as its message, any other error with its stack. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    process.stderr.write(`${error instanceof UserError ? error.message : describe(error)}\n`);
    process.exitCode = 1;
  }
}

const describe = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
