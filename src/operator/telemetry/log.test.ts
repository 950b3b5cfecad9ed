import { expect, it, vi } from 'vitest';
import { makeLog, watchRestarts } from './log.ts';

it('a restarted watch is logged at debug level only', () => {
  const shown = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  watchRestarts(makeLog('info', 'text'))('persistentvolumeclaims');
  expect(shown).not.toHaveBeenCalled();
  watchRestarts(makeLog('debug', 'text'))('persistentvolumeclaims');
  expect(shown.mock.calls.join()).toMatch(/debug watch of persistentvolumeclaims restarted\n$/);
  shown.mockRestore();
});
