import { describe, expect, it } from 'vitest';
import type { MemberTemplate } from '../model/template.ts';
import { readinessProbe, startupProbe } from './probes.ts';

const plain = { clientTLS: undefined } as MemberTemplate;

describe('whether a member is ready', () => {
  it.each([readinessProbe(plain), startupProbe(plain)])('does not depend on room for more: %j', (probe) => {
    expect(probe).toMatchObject({ httpGet: { path: '/health?exclude=NOSPACE' } });
  });
});
