import { describe, expect, it } from 'vitest';
import { wordsOf } from './kubectl.ts';
import { patiently } from './patience.ts';

describe('a kubectl command line', () => {
  const cases: Record<string, readonly string[]> = {
    'get pods -o wide': ['get', 'pods', '-o', 'wide'],
    "exec db -- sh -c 'echo a  b'": ['exec', 'db', '--', 'sh', '-c', 'echo a  b'],
    'wait pod/a --for=jsonpath="{.status.phase}"=Running': ['wait', 'pod/a', '--for=jsonpath={.status.phase}=Running'],
    'put k ""': ['put', 'k', ''],
  };
  for (const [line, words] of Object.entries(cases)) it(line, () => expect(wordsOf(line)).toEqual(words));
});

describe('the limit of a kubectl command line', () => {
  it('is stretched, unless it is meant to run out', () => {
    expect(patiently('wait pod/a --for=delete --timeout=30s')).toBe('wait pod/a --for=delete --timeout=120s');
    expect(patiently('wait pod/a --for=delete --timeout=10s')).toBe('wait pod/a --for=delete --timeout=10s');
  });
});
