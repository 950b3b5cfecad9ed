import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FuzzBench, judge } from './judge.ts';
import { kinds, objectWith, titleOf } from './kinds.ts';
import { allPaths, type Example, exampleOf, examples } from './mutations.ts';
import { pathText, type Step } from './schema-paths.ts';
import { fromTo, thereAndBack } from './there-and-back.ts';

/** The number of objects, and the seed of all choices. A failure prints both. */
const objects = Number(process.env['FUZZ_OBJECTS'] ?? 1500);
const seed = Number(process.env['FUZZ_SEED'] ?? 17);

let bench: FuzzBench;
beforeAll(async () => void (bench = await FuzzBench.start()));
afterAll(() => bench.close());

/** Checks examples, and names the command that repeats the run. */
async function check(numRuns: number, problemsOf: (example: Example) => Promise<readonly string[]>): Promise<void> {
  const property = fc.asyncProperty(examples(), async (example) => {
    const problems = await problemsOf(example);
    if (problems.length > 0) throw new Error(problems.join('\n'));
  });
  const result = await fc.check(property, { numRuns, seed, endOnFailure: false });
  if (!result.failed) return;
  const again = `FUZZ_SEED=${seed} FUZZ_OBJECTS=${objects} make fuzz`;
  const problem = result.errorInstance instanceof Error ? result.errorInstance.stack : '';
  throw new Error(`${await fc.asyncDefaultReportMessage(result)}\n${problem}\n${again} repeats this failure`);
}

it(`of ${objects} changed objects each is refused by the name of a changed field, or served, or told`, () =>
  check(objects, async (example) => (await judge(example, bench)).problems));

it('an object that is changed and changed back ends as it began', () =>
  check(Math.ceil(objects / 20), (example) => thereAndBack(example, bench)));

describe.each(kinds.map((kind) => [titleOf(kind), kind] as const))('%s', (_title, kind) => {
  it('has valid examples that are served', async () => {
    for (const spec of kind.specs)
      for (const isShared of [true, false]) {
        const example = exampleOf({ kind, spec, mutations: [], isShared, isWorked: true });
        expect(await judge(example, bench), JSON.stringify(spec)).toMatchObject({ problems: [] });
        expect(await bench.offer(example)).toMatchObject({ code: 409 }); // it was stored
      }
  });

  it('ends with each valid spec as if it had been made with it, whatever the spec before', async () => {
    for (const from of kind.specs)
      for (const to of kind.specs)
        expect(await fromTo(kind, [from, to], bench), JSON.stringify({ from, to })).toEqual([]);
  });

  it('has examples that together set every field', () => {
    const described = allPaths(kind).filter(
      ({ steps, schema }) => steps[0] === 'spec' && Object.keys(schema).length > 0,
    );
    const missing = described.filter(({ steps }) => !kind.specs.some((spec) => has(objectWith(kind, spec), steps)));
    expect(missing.map(({ steps }) => pathText(steps)).filter((path) => !isLeftOut(path))).toEqual([]);
  });
});

/** Fields without an example: keys of maps, and fields of volumes that the lab cannot provide or we refuse. */
const isLeftOut = (path: string): boolean =>
  /\.(example|dataSource|dataSourceRef|volumeAttributesClassName|volumeName)(\.|$)/.test(path);

function has(value: unknown, [step, ...rest]: readonly Step[]): boolean {
  if (step === undefined) return value !== undefined;
  if (Array.isArray(value)) return value.some((item) => has(item, rest));
  return typeof value === 'object' && value !== null && has(Reflect.get(value, step), rest);
}
