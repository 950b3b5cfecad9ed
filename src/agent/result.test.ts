import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type AgentResult, shortened, writeResult } from './result.ts';

const bytesOf = (result: object): number => Buffer.byteLength(JSON.stringify(result));
const failed = (message: string): AgentResult => ({ ok: false, trouble: 'damaged', mayPass: false, message });
const good = (more: object): AgentResult => ({ ok: true, seconds: 1, ...more });

describe('the termination message of an agent', () => {
  it('is never longer in bytes than Kubernetes keeps', () => {
    expect(bytesOf(shortened(failed('\u0000'.repeat(5000))))).toBeLessThanOrEqual(4096);
    const long = fc.string({ unit: 'binary', maxLength: 6000, size: 'max' });
    fc.assert(
      fc.property(long, (message) => bytesOf(shortened(failed(message))) <= 4096),
      { endOnFailure: true },
    );
    const fields = fc.record({ url: long, key: long, warnings: fc.array(long, { maxLength: 5 }) });
    fc.assert(
      fc.property(fields, (more) => bytesOf(shortened(good(more))) <= 4096),
      { endOnFailure: true },
    );
  });

  it('keeps the start of a message, cut between two characters', () => {
    const message = 'no such bucket: '.concat('🪣'.repeat(2000));
    const short = shortened(failed(message)) as { readonly message: string };
    expect(short).toMatchObject({ ok: false, trouble: 'damaged', mayPass: false });
    expect(message.startsWith(short.message)).toBe(true);
    expect(short.message).toMatch(/^no such bucket: 🪣+$/u);
  });

  it('is unchanged if it is short enough', () => {
    for (const result of [failed('no'), good({ url: 's3://b/k', warnings: ['w'] })])
      expect(shortened(result)).toEqual(result);
  });

  it('loses items of lists first, and never the URL of the stored object', () => {
    const deleted = Array.from({ length: 1000 }, (_, i) => `backups/${i}`);
    const pruned = shortened(good({ deleted, kept: 3 })) as unknown as { readonly deleted: readonly string[] };
    expect(pruned).toMatchObject({ ok: true, kept: 3 });
    expect(pruned.deleted).toEqual(deleted.slice(0, pruned.deleted.length));
    expect(pruned.deleted.length).toBeGreaterThan(10);
    const url = `s3://b/${'%C3%BC'.repeat(500)}`;
    const warnings = ['w'.repeat(900)];
    expect(shortened(good({ url, key: 'ü'.repeat(500), warnings }))).toEqual(
      good({ url, warnings: expect.anything(), key: expect.anything() }),
    );
    expect(shortened(good({ url, key: 'ü'.repeat(600), warnings: [] }))).toEqual(good({ url, warnings: [] }));
  });

  it('is valid JSON in the file, and complete on standard output', async () => {
    const output: string[] = [];
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => output.push(String(text)) > 0);
    const file = join(mkdtempSync(join(tmpdir(), 'result-')), 'log');
    const result = failed('ü'.repeat(3000));
    await writeResult(file, result).finally(() => write.mockRestore());
    expect(JSON.parse(output.join(''))).toEqual(result);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(shortened(result));
  });
});
