import { expect, it } from 'vitest';
import { Pace, type ProbeKind } from './pace.ts';
import { afterResult, type Probe, unprobed } from './probe-state.ts';

/** The ages in milliseconds at which a failing container is probed; in brackets where the failure does not count. */
function probeAges(kind: ProbeKind, probe: Probe, untilMillis: number): string {
  const pace = new Pace(kind, probe);
  const ages: string[] = [];
  for (let age = 0; age <= untilMillis; age += pace.pauseMillis(age, unprobed))
    ages.push(pace.counts('failure', age) ? `${age}` : `(${age})`);
  return ages.join(' ');
}

const tcpSocket = { port: 1 };

it('a container without a first success is probed several times a period, and one failure counts', () => {
  expect(probeAges('startup', { tcpSocket, periodSeconds: 1 }, 1400)).toBe(
    '0 (200) (400) (600) (800) 1000 (1200) (1400)',
  );
});

it('a first success counts at any time', () => {
  const pace = new Pace('startup', { tcpSocket, periodSeconds: 1 });
  expect([pace.counts('failure', 0), pace.counts('failure', 200), pace.counts('success', 400)]).toEqual([
    true,
    false,
    true,
  ]);
});

it('an exec probe runs at most once a second', () => {
  expect(probeAges('readiness', { exec: { command: ['true'] }, periodSeconds: 3 }, 4000)).toBe(
    '0 (1000) (2000) 3000 (4000)',
  );
});

it('a container without a success after ten seconds is probed once a second', () => {
  expect(new Pace('readiness', { tcpSocket }).pauseMillis(60_000, unprobed)).toBe(1000);
});

it('a succeeding probe and a liveness probe keep to their period', () => {
  const probe = { tcpSocket, periodSeconds: 7 };
  expect(new Pace('readiness', probe).pauseMillis(0, afterResult(unprobed, probe, 'success'))).toBe(7000);
  expect(probeAges('liveness', probe, 14_000)).toBe('0 7000 14000');
});
