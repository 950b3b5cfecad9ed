import { build, type Metafile } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { recipe } from './bundle.ts';

type Outputs = Metafile['outputs'];

/** A file and all that it imports as soon as it is read. */
function readAtStart(file: string, outputs: Outputs): readonly string[] {
  const imported = outputs[file]?.imports.filter(({ kind }) => kind === 'import-statement') ?? [];
  return [file, ...imported.flatMap(({ path }) => (path in outputs ? readAtStart(path, outputs) : []))];
}

describe('the bundle', () => {
  it('has the operator read little at its start, and not what only a kubeconfig needs', {
    timeout: 60_000,
  }, async () => {
    const { metafile } = await build({ ...(await recipe()), write: false, metafile: true });
    const { outputs } = metafile ?? { outputs: {} };
    const operator = Object.keys(outputs).find((file) => 'src/main/operator.ts' in (outputs[file]?.inputs ?? {})) ?? '';
    const files = [...new Set(readAtStart(operator, outputs))].flatMap((file) => outputs[file] ?? []);
    const sources = files.flatMap(({ inputs }) => Object.keys(inputs));
    expect(sources).toContain('src/main/operator.ts');
    expect(sources.filter((source) => /@kubernetes\/client-node|src\/(agents|storage|lab)\//.test(source))).toEqual([]);
    expect(files.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(3_000_000);
  });
});
