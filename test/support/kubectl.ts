import { attempt, type Ended, RunError, type RunOptions } from '../../tools/lib/run.ts';
import { stretchTimeouts } from './patience.ts';
import { WaitTimeout } from './until.ts';

export interface Kubectl {
  readonly namespace: string;
  /** Runs kubectl in the namespace of the story, or in another; returns stdout. An error quotes stderr; a timed-out wait throws a WaitTimeout. */
  (args: string, options?: Pick<RunOptions, 'input'>, otherNamespace?: string): Promise<string>;
  /** Runs a command that must be refused; returns stderr. */
  readonly refused: (args: string, options?: Pick<RunOptions, 'input'>) => Promise<string>;
  /** Runs a command with `-o json`; returns the parsed output. */
  readonly json: <T>(args: string) => Promise<T>;
}

/** kubectl in one namespace, with arguments split as in a shell. */
export function kubectlIn(namespace: string): Kubectl {
  const end = (args: string, options: Pick<RunOptions, 'input'> = {}, target = namespace) =>
    attempt('kubectl', ['--namespace', target, ...splitArgs(stretchTimeouts(args))], options);

  const kubectl = async (
    args: string,
    options?: Pick<RunOptions, 'input'>,
    otherNamespace?: string,
  ): Promise<string> => {
    const ended = await end(args, options, otherNamespace);
    if (ended.code !== 0) throw failureOf(args, ended);
    return ended.stdout;
  };
  const refused = async (args: string, options?: Pick<RunOptions, 'input'>): Promise<string> => {
    const ended = await end(args, options);
    if (ended.code === 0) throw new Error(`kubectl ${args}: was not refused\n${ended.stdout}`);
    return ended.stderr;
  };
  const json = async <T>(args: string): Promise<T> => JSON.parse(await kubectl(`${args} -o json`)) as T;
  return Object.assign(kubectl, { namespace, refused, json });
}

/** Only `wait` and `rollout status` can time out. In other commands, a time-out in the message is a failure. */
function failureOf(args: string, ended: Ended): Error {
  const failure = new RunError(`kubectl ${args}`, ended);
  const isWait = /^(wait|rollout status) /.test(args);
  const ranOut = /timed out waiting for the condition|context deadline exceeded/.test(ended.stderr);
  return isWait && ranOut ? new WaitTimeout(failure.message, { cause: failure }) : failure;
}

/** Splits a command line at blanks, except inside single or double quotes. */
export const splitArgs = (line: string): readonly string[] =>
  [...line.matchAll(/(?:[^\s'"]+|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replaceAll(
      /'([^']*)'|"([^"]*)"/g,
      (_, single: string | undefined, double: string | undefined) => single ?? double ?? '',
    ),
  );
