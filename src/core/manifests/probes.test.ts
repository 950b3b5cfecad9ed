import { describe, expect, it } from 'vitest';
import type { MemberTemplate } from '../cluster/model/template.ts';
import { readinessProbe, startupProbe } from './probes.ts';

const plain = { clientTLS: undefined } as MemberTemplate;

describe('the readiness of a member', () => {
  it.each([readinessProbe(plain), startupProbe(plain)])('does not depend on the NOSPACE alarm: %j', (probe) => {
    expect(probe).toMatchObject({ httpGet: { path: '/health?exclude=NOSPACE' } });
  });
});
