import { expect, it } from 'vitest';
import { Pace, type ProbeKind } from './pace.ts';
import { afterResult, type Probe, unprobed } from './probe-state.ts';

/** The ages at which a container is looked at that never answers; in brackets where its failure does not count. */
function looks(kind: ProbeKind, probe: Probe, untilMillis: number): string {
  const pace = new Pace(kind, probe);
  const ages: string[] = [];
  for (let age = 0; age <= untilMillis; age += pace.pauseMillis(age, unprobed))
    ages.push(pace.counts('failure', age) ? `${age}` : `(${age})`);
  return ages.join(' ');
}

const tcpSocket = { port: 1 };

it('looks several times in a period while the first answer is awaited, and counts one failure', () => {
  expect(looks('startup', { tcpSocket, periodSeconds: 1 }, 1400)).toBe('0 (200) (400) (600) (800) 1000 (1200) (1400)');
});

it('takes the first success, whenever it comes', () => {
  const pace = new Pace('startup', { tcpSocket, periodSeconds: 1 });
  expect([pace.counts('failure', 0), pace.counts('failure', 200), pace.counts('success', 400)]).toEqual([
    true,
    false,
    true,
  ]);
});

it('starts no program more often than once a second', () => {
  expect(looks('readiness', { exec: { command: ['true'] }, periodSeconds: 3 }, 4000)).toBe(
    '0 (1000) (2000) 3000 (4000)',
  );
});

it('asks a container that has run for a while less often', () => {
  expect(new Pace('readiness', { tcpSocket }).pauseMillis(60_000, unprobed)).toBe(1000);
});

it('keeps to its period where all is well, and where a container would be killed', () => {
  const probe = { tcpSocket, periodSeconds: 7 };
  expect(new Pace('readiness', probe).pauseMillis(0, afterResult(unprobed, probe, 'success'))).toBe(7000);
  expect(looks('liveness', probe, 14_000)).toBe('0 7000 14000');
});
