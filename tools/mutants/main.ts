import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { mutants } from '../../test/mutants/all.ts';
import { located, type Mutant } from '../../test/mutants/mutant.ts';
import { headCommit } from '../check/touched.ts';
import { runMain, UserError } from '../lib/main.ts';
import { endAll } from '../lib/measured.ts';
import { compilerErrors } from './compiles.ts';
import { Copy } from './copy.ts';
import { examine, type MutantResult } from './examine.ts';
import { detectingSuite, pageOf, rowOf } from './page.ts';
import { readImports, unitTests } from './test-order.ts';

const root = join(import.meta.dirname, '../..');
const page = join(root, 'docs/development/mutants.md');

function chosenBy(only: string | undefined): readonly Mutant[] {
  const names = only?.split(/[\s,]+/).filter(Boolean) ?? [];
  const unknown = names.filter((name) => mutants.every((mutant) => mutant.name !== name));
  if (unknown.length > 0) throw new UserError(`there is no mutant ${unknown.join(', ')} in test/mutants/`);
  const chosen = names.length === 0 ? mutants : mutants.filter(({ name }) => names.includes(name));
  return chosen.map((mutant) => located(mutant, root));
}

const stopping = new AbortController();
const { signal: stopped } = stopping;

function stop(): void {
  stopping.abort();
  endAll();
}

/** Two copies: each runs one bug at a time. */
const workers = 2;

async function examineAll(chosen: readonly Mutant[]): Promise<readonly MutantResult[]> {
  await using stack = new AsyncDisposableStack();
  const copies: Copy[] = [];
  for (let count = 0; count < Math.min(workers, chosen.length); count++) copies.push(stack.use(await Copy.make()));
  const [first] = copies;
  if (first === undefined) return [];
  const errors = await compilerErrors(chosen, first, stopped);
  if (errors.length > 0) throw new UserError(`the compiler finds these bugs:\n${errors.join('\n')}`);
  const tests = { all: unitTests(first.directory), imports: readImports(first.directory), green: new Set<string>() };
  const run = `${new Date().toISOString().slice(0, 10)} ${(await headCommit()).slice(0, 7)}`;
  const results = new Map<Mutant, MutantResult>();
  const left = chosen.values();
  const work = async (copy: Copy): Promise<void> => {
    for (const mutant of left) {
      const ended = await examine(mutant, copy, tests);
      if (stopped.aborted) throw new UserError('stopped by a signal');
      results.set(mutant, ended);
      record(ended, run);
      process.stdout.write(`${results.size}/${chosen.length} ${lineOf(ended)}\n`);
    }
  };
  await Promise.all(copies.map(work));
  return chosen.flatMap((mutant) => results.get(mutant) ?? []);
}

function lineOf(ended: MutantResult): string {
  const { mutant, killer, problem, cpuSeconds } = ended;
  const by = killer === undefined ? mutant.plants : `${killer.file}: ${killer.title}`;
  const suite = detectingSuite(ended);
  const result = suite === 'none' ? 'SURVIVES' : `killed by ${suite}`;
  return `${mutant.name}: ${problem ?? result} (${by}; ${cpuSeconds.toFixed(0)} s CPU)`;
}

async function main({ only }: { readonly only?: string }): Promise<void> {
  const results = await examineAll(chosenBy(only));
  const alive = results.filter((ended) => detectingSuite(ended) === 'none');
  for (const { mutant } of alive) process.stdout.write(`survived: ${mutant.name}: ${mutant.plants}\n`);
  process.stdout.write(`${results.length} planted, ${alive.length} survived\n`);
  if (alive.length > 0) process.exitCode = 1;
}

/** Writes the page after each mutant, so that a run that is stopped loses nothing. */
function record(result: MutantResult, run: string): void {
  mkdirSync(dirname(page), { recursive: true });
  const before = existsSync(page) ? readFileSync(page, 'utf8') : '';
  writeFileSync(page, pageOf(mutants, [rowOf(result, run)], before));
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
const program = new Command('mutants').option('--only <names>', 'plant only these bugs').action(main);
await runMain(async () => {
  await program.parseAsync();
});
