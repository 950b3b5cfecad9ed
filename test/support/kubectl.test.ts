import { describe, expect, it } from 'vitest';
import { wordsOf } from './kubectl.ts';

describe('a kubectl command line', () => {
  const cases: Record<string, readonly string[]> = {
    'get pods -o wide': ['get', 'pods', '-o', 'wide'],
    "exec db -- sh -c 'echo a  b'": ['exec', 'db', '--', 'sh', '-c', 'echo a  b'],
    'wait pod/a --for=jsonpath="{.status.phase}"=Running': ['wait', 'pod/a', '--for=jsonpath={.status.phase}=Running'],
    'put k ""': ['put', 'k', ''],
  };
  for (const [line, words] of Object.entries(cases)) it(line, () => expect(wordsOf(line)).toEqual(words));
});
