import { attempt, type Ended, RunError, type RunOptions } from '../../tools/lib/run.ts';
import { patiently } from './patience.ts';
import { WaitTimeout } from './until.ts';

export interface Kubectl {
  readonly namespace: string;
  /** Runs `kubectl <words>` in the story's namespace, or elsewhere, and gives back what it printed; an error quotes what it said, and is a WaitTimeout where a wait ran out. */
  (words: string, options?: Pick<RunOptions, 'input'>, elsewhere?: string): Promise<string>;
  /** The same, for a command that must be refused: gives back what kubectl said on stderr. */
  readonly refused: (words: string, options?: Pick<RunOptions, 'input'>) => Promise<string>;
  /** The same, with the output read as JSON. */
  readonly json: <T>(words: string) => Promise<T>;
}

/** kubectl as the user types it, in one namespace. Words in quotes stay together, as in a shell. */
export function kubectlIn(namespace: string): Kubectl {
  const end = (words: string, options: Pick<RunOptions, 'input'> = {}, place = namespace) =>
    attempt('kubectl', ['--namespace', place, ...wordsOf(patiently(words))], options);

  const kubectl = async (words: string, options?: Pick<RunOptions, 'input'>, elsewhere?: string): Promise<string> => {
    const ended = await end(words, options, elsewhere);
    if (ended.code !== 0) throw failureOf(words, ended);
    return ended.stdout;
  };
  const refused = async (words: string, options?: Pick<RunOptions, 'input'>): Promise<string> => {
    const ended = await end(words, options);
    if (ended.code === 0) throw new Error(`kubectl ${words}: should have been refused, but was done\n${ended.stdout}`);
    return ended.stderr;
  };
  const json = async <T>(words: string): Promise<T> => JSON.parse(await kubectl(`${words} -o json`)) as T;
  return Object.assign(kubectl, { namespace, refused, json });
}

/** Only commands that wait can run out of time; any other that speaks of a time-out has failed. */
function failureOf(words: string, ended: Ended): Error {
  const failure = new RunError(`kubectl ${words}`, ended);
  const isWait = /^(wait|rollout status) /.test(words);
  const ranOut = /timed out waiting for the condition|context deadline exceeded/.test(ended.stderr);
  return isWait && ranOut ? new WaitTimeout(failure.message, { cause: failure }) : failure;
}

/** Splits a command line at blanks, except inside single or double quotes. */
export const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/(?:[^\s'"]+|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replaceAll(
      /'([^']*)'|"([^"]*)"/g,
      (_, single: string | undefined, double: string | undefined) => single ?? double ?? '',
    ),
  );
