import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generated } from './generate-crds.ts';

describe('a generated file', () => {
  for (const [file, content] of Object.entries(generated())) {
    it(`is up to date: ${file} (else run node tools/generate-crds.ts)`, () => {
      expect(readFileSync(join(import.meta.dirname, '..', file), 'utf8')).toBe(content);
    });
  }
});
