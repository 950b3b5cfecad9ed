import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const dockerfile = readFileSync(join(import.meta.dirname, '../../Dockerfile'), 'utf8');

it('the Dockerfile uses no base image by tag, only by digest or by an argument without a default', () => {
  const defaults = new Map(
    [...dockerfile.matchAll(/^ARG (\w+)(?:=(\S+))?$/gm)].map(([, name, value]) => [name, value]),
  );
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base = '']) => base);
  expect(bases.length).toBeGreaterThan(1);
  const byTag = bases.filter((base) => {
    const [, argument] = /^\$\{(\w+)\}$/.exec(base) ?? [];
    const named = argument === undefined ? base : (defaults.get(argument) ?? 'asked for');
    return named !== 'scratch' && named !== 'asked for' && !/@sha256:[0-9a-f]{64}$/.test(named);
  });
  expect(byTag).toEqual([]);
  expect(dockerfile).toMatch(/case "\$NODE_IMAGE" in \*@sha256:\*\) ;;/);
});
