import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { freePorts } from '../../test/support/free-ports.ts';
import { until } from '../../test/support/until.ts';
import { type MetricsAccess, refusalOfMetrics, tokenIn } from './metrics-access.ts';
import { serveHealth } from './telemetry/health.ts';

const open: MetricsAccess = { loopbackOnly: false, tokenFile: undefined };
const from = (remoteAddress: string, authorization?: string) => ({
  socket: { remoteAddress },
  headers: authorization === undefined ? {} : { authorization },
});
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function tokenFile(text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'metrics-'));
  cleanups.push(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, 'token'), text);
  return join(directory, 'token');
}

describe('/metrics', () => {
  it('is open by default', async () => {
    expect(await refusalOfMetrics(from('10.1.2.3'), open)).toBeUndefined();
  });

  it('is served only on loopback addresses with --metrics-loopback-only', async () => {
    const code = async (address: string) =>
      (await refusalOfMetrics(from(address), { ...open, loopbackOnly: true }))?.code;
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])
      expect(await code(address)).toBeUndefined();
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', 'fd00::1', '']) expect(await code(address)).toBe(403);
  });

  it('requires the bearer token of --metrics-token-file, which may change', async () => {
    const file = await tokenFile('secret\n');
    const code = async (header?: string) =>
      (await refusalOfMetrics(from('10.1.2.3', header), { ...open, tokenFile: file }))?.code;
    expect(await code('Bearer secret')).toBeUndefined();
    for (const header of [undefined, '', 'secret', 'Bearer', 'Bearer secre', 'Bearer secret2', 'Basic secret'])
      expect(await code(header)).toBe(401);
    await writeFile(file, 'other');
    expect([await code('Bearer secret'), await code('Bearer other')]).toEqual([401, undefined]);
  });

  it('is refused, and the operator does not start, with an empty or missing token file', async () => {
    const file = await tokenFile(' \n');
    expect(await refusalOfMetrics(from('::1', 'Bearer '), { ...open, tokenFile: file })).toMatchObject({ code: 500 });
    await expect(tokenIn(file)).rejects.toThrow('is empty: put a token into it');
    await expect(tokenIn('/nowhere')).rejects.toThrow('/nowhere cannot be read (ENOENT)');
  });
});

describe('the health server', () => {
  it('answers probes without the token of /metrics', async () => {
    const [port = 0] = await freePorts(1);
    const stop = new AbortController();
    const file = await tokenFile('secret');
    const details = () => ['watching namespace home'];
    const running = serveHealth({
      ...{ listen: { host: undefined, port }, missing: () => [], details, metrics: new Registry() },
      metricsAccess: { loopbackOnly: true, tokenFile: file },
    })(stop.signal);
    const get = async (path: string, headers = {}) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
      return [answer.status, await answer.text()];
    };
    await until('it listens', () => get('/livez').catch(() => undefined));
    expect(await get('/readyz')).toEqual([200, 'ok\n']);
    expect(await get('/readyz?verbose')).toEqual([200, 'ok\nwatching namespace home\n']);
    expect((await get('/metrics'))[0]).toBe(401);
    expect((await get('/metrics', { authorization: 'Bearer secret' }))[0]).toBe(200);
    stop.abort();
    await running;
  });
});
