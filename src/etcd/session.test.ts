import dns from 'node:dns';
import { once } from 'node:events';
import { type Socket, connect as socketTo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { makeAuthority } from '../../lab/pki.ts';
import { connect, listen } from '../../test/support/etcd-connect.ts';
import { type FakeAnswers, type FakeEtcd, never, startFakeEtcd } from '../../test/support/etcd-fake.ts';
import { Failure } from '../std/failure.ts';
import type { Dialer } from './endpoint.ts';

const version = { version: '3.6.0' };
const answering = (maintenance: FakeAnswers['maintenance'] = {}): Promise<FakeEtcd> =>
  startFakeEtcd({ maintenance: { status: () => version, ...maintenance } });

describe('a hanging member', () => {
  it('fails a call at its time-out, and the next call uses a new connection', async () => {
    let hangs = true;
    await using fake = await answering({ status: (...call) => (hangs ? never(...call) : version) });
    const etcd = connect(fake);
    await expect(etcd.status({ timeoutMillis: 1_000 })).rejects.toMatchObject({ kind: 'unreachable', mayBeDone: true });
    hangs = false;
    expect(await etcd.status()).toMatchObject(version);
    expect(fake.connections()).toBe(2);
    await expect.poll(fake.openConnections).toBe(1);
  });

  it('does not abort other calls on the same connection', async () => {
    const { promise: goOn, resolve } = Promise.withResolvers<void>();
    const snapshot = async function* () {
      yield { blob: new Uint8Array(1) };
      await goOn;
      yield { blob: new Uint8Array(1) };
    };
    await using fake = await answering({ status: never, snapshot });
    const etcd = connect(fake);
    const parts = etcd.snapshot()[Symbol.asyncIterator]();
    await parts.next();
    await expect(etcd.status({ timeoutMillis: 50 })).rejects.toMatchObject({ kind: 'unreachable' });
    resolve();
    expect((await parts.next()).value).toHaveLength(1);
    await expect(parts.next()).rejects.toThrow('corrupt');
    await expect.poll(fake.openConnections).toBe(0);
  });

  it('is abandoned at once when the caller aborts, also before the call', async () => {
    await using fake = await answering({ status: never });
    const etcd = connect(fake);
    const controller = new AbortController();
    const asked = etcd.status({ signal: controller.signal });
    controller.abort();
    await expect(asked).rejects.toMatchObject({ kind: 'unreachable', message: expect.stringContaining('aborted') });
    await expect(etcd.status({ signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: 'unreachable' });
  });

  it('does not block in its TLS handshake, and its socket is closed', async () => {
    await using silent = await listen();
    const etcd = connect({ url: `https://127.0.0.1:${silent.port}` }, { timeoutMillis: 100 });
    await expect(etcd.status()).rejects.toMatchObject({ kind: 'unreachable' });
    await expect.poll(() => silent.sockets.map(({ closed }) => closed)).toEqual([true]);
  });

  it('fails a call with a long time-out at the first ping if it never connects', async () => {
    await using silent = await listen();
    const etcd = connect({ url: `https://127.0.0.1:${silent.port}` }, { pingMillis: 50 });
    await expect(etcd.defragment()).rejects.toMatchObject({ message: expect.stringContaining('not connected within') });
  });
});

const dialerTo = ({ port }: { readonly port: number }, sockets: Socket[] = []): Dialer => {
  const open = async (): Promise<Socket> => {
    const socket = socketTo(port, '127.0.0.1');
    await once(socket, 'connect');
    sockets.push(socket);
    return socket;
  };
  return open;
};

describe('an aborted connection', () => {
  it('raises no uncaught error while it opens', async () => {
    await using fake = await answering();
    for (let turns = 0; turns < 12; turns++) {
      const etcd = connect({ url: fake.url });
      const asked = etcd.status().catch((thrown: unknown) => Failure.from(thrown).kind);
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
      etcd.close();
      await asked;
    }
    expect(await connect({ url: fake.url }).status()).toMatchObject(version); // an uncaught error fails the test run
  });
});

describe('a dialer', () => {
  it('connects to the member once for all calls, and its socket closes with the connection', async () => {
    await using fake = await answering();
    const etcd = connect({ url: 'http://db-0.db.default.svc:2379', dialer: dialerTo(fake) });
    expect(await Promise.all([etcd.status(), etcd.status()])).toMatchObject([version, version]);
    expect(fake.connections()).toBe(1);
    etcd.close();
    await expect.poll(fake.openConnections).toBe(0);
  });

  it('verifies the certificate name, and leaves no socket open after a TLS failure', async () => {
    const authority = await makeAuthority('test');
    const identity = await authority.issue({ commonName: 'm0', dns: ['m0.test'] });
    await using fake = await startFakeEtcd({ maintenance: { status: () => version } }, identity);
    const [tls, dialer] = [{ ca: authority.certificate }, dialerTo(fake)];
    await expect(connect({ url: 'https://m1.test', tls, dialer }).status()).rejects.toThrow('TLS failed');
    const etcd = connect({ url: 'https://m0.test', tls, dialer });
    expect(await etcd.status()).toMatchObject(version);
    etcd.close();
    await expect.poll(fake.openConnections).toBe(0);
  });

  it('is called again after its socket breaks', async () => {
    await using fake = await answering();
    const sockets: Socket[] = [];
    const etcd = connect({ url: fake.url, dialer: dialerTo(fake, sockets) });
    await etcd.status();
    sockets[0]?.destroy(new Failure('unreachable', 'the pod is gone'));
    await expect.poll(() => etcd.status().catch(() => undefined)).toMatchObject(version);
    expect(sockets).toHaveLength(2);
  });

  it('that fails makes the call unreachable, and is called again', async () => {
    await using fake = await answering();
    const dialers: Dialer[] = [() => Promise.reject(new Failure('unreachable', 'no such pod')), dialerTo(fake)];
    const etcd = connect({ url: fake.url, dialer: (signal) => (dialers.shift() as Dialer)(signal) });
    await expect(etcd.status()).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('no such pod'),
    });
    expect(await etcd.status()).toMatchObject(version);
  });

  it('that takes too long is aborted, and its late socket is closed', async () => {
    await using fake = await answering();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const aborted: boolean[] = [];
    const dialer: Dialer = async (signal) => {
      await late;
      aborted.push(signal.aborted);
      return dialerTo(fake)(signal);
    };
    const etcd = connect({ url: fake.url, dialer }, { timeoutMillis: 50 });
    await expect(etcd.status()).rejects.toMatchObject({ kind: 'unreachable' });
    resolve();
    await expect.poll(() => aborted).toEqual([true]);
    await expect.poll(() => [fake.connections(), fake.openConnections()]).toEqual([1, 0]);
  });
});

describe('a connection', () => {
  it('is shared by calls, and refuses calls after close', async () => {
    await using fake = await answering();
    const etcd = connect(fake);
    await Promise.all([etcd.status(), etcd.status()]);
    await etcd.status();
    expect(fake.connections()).toBe(1);
    etcd.close();
    await expect.poll(fake.openConnections).toBe(0);
    await expect(etcd.status()).rejects.toMatchObject({ kind: 'unreachable', mayBeDone: false });
  });

  it('ends its open calls on close', async () => {
    await using fake = await answering({ status: never });
    const etcd = connect(fake);
    const asked = expect(etcd.status()).rejects.toMatchObject({ kind: 'unreachable' });
    await expect.poll(fake.openConnections).toBe(1);
    etcd.close();
    await asked;
  });

  it('pings only while a call is open', async () => {
    const { promise: goOn, resolve } = Promise.withResolvers<void>();
    await using fake = await answering({ status: async () => (await goOn, version) });
    const etcd = connect({ url: fake.url, dialer: dialerTo(fake) }, { pingMillis: 30 });
    const asked = etcd.status();
    await expect.poll(fake.pings).toBeGreaterThan(2);
    resolve();
    await asked;
    const pings = fake.pings();
    await new Promise((passed) => setTimeout(passed, 200));
    expect(fake.pings() - pings).toBeLessThanOrEqual(1); // one may have been in flight; six would mean that pings continue
  });

  it('dials the given address, and verifies the host name of the URL', async () => {
    const authority = await makeAuthority('test');
    const identity = await authority.issue({ commonName: 'm0', dns: ['m0.test'] });
    await using fake = await startFakeEtcd({ maintenance: { status: () => version } }, identity);
    const tls = { ca: authority.certificate };
    const dial = { host: '127.0.0.1', port: fake.port };
    expect(await connect({ url: 'https://m0.test:2379', dial, tls }).status()).toMatchObject(version);
    expect(await connect({ url: fake.url, tls: { ...tls, serverName: 'm0.test' } }).status()).toMatchObject(version);
    for (const endpoint of [{ url: fake.url, tls }, { url: 'https://m1.test', dial, tls }, { url: fake.url }])
      await expect(connect(endpoint).status()).rejects.toThrow('TLS failed');
  });

  it('accepts host names, IPv4 and IPv6 addresses', async () => {
    await using fake = await answering();
    expect(await connect({ url: `http://localhost:${fake.port}` }).status()).toMatchObject(version);
    const dial = { host: '127.0.0.1', port: fake.port };
    expect(await connect({ url: 'http://[::1]:2379', dial }).status()).toMatchObject(version);
    await expect(connect({ url: 'http://[::1]:1' }).status()).rejects.toThrow(/ECONNREFUSED|EADDRNOTAVAIL/);
  });

  it('reports an invalid CA and an invalid URL', async () => {
    const tls = { ca: 'no certificate', cert: 'none', key: 'none' };
    await expect(connect({ url: 'https://127.0.0.1:1', tls }).status()).rejects.toThrow('TLS failed');
    for (const url of ['a:2379', 'localhost', '', 'ftp://a'])
      expect(() => connect({ url })).toThrow('not an http or https URL');
  });

  it('reports a server that is not etcd', async () => {
    await using web = await listen('HTTP/1.1 400 Bad Request\r\n\r\n');
    const failure = { kind: 'unreachable', message: expect.stringContaining(`127.0.0.1:${web.port}`) };
    await expect(connect({ url: `http://127.0.0.1:${web.port}` }).status()).rejects.toMatchObject(failure);
    await expect(connect({ url: `https://127.0.0.1:${web.port}` }).status()).rejects.toThrow(
      /TLS failed: wrong version/,
    );
    const notSent = { kind: 'unreachable', mayBeDone: false };
    await expect(connect({ url: 'http://127.0.0.1:1' }).status()).rejects.toMatchObject(notSent);
  });

  it.each(['ENOTFOUND', 'EAI_AGAIN'])('to a host name without an address sends no request: %s', async (code) => {
    const fail = (_name: string, _options: object, callback: (error: Error) => void): void =>
      process.nextTick(callback, Object.assign(new Error(`getaddrinfo ${code}`), { code }));
    // A DNS server may take longer to answer than the call.
    using lookup = vi.spyOn(dns, 'lookup').mockImplementation(fail as never);
    const failure = { kind: 'unreachable', mayBeDone: false, message: expect.stringContaining(code) };
    await expect(connect({ url: 'http://no-such-host.invalid:1' }).status()).rejects.toMatchObject(failure);
    expect(lookup).toHaveBeenCalled();
  });

  it('survives a server that closes the connection abruptly', async () => {
    const etcd = await (async () => {
      await using fake = await answering();
      const connection = connect(fake);
      await connection.status();
      return connection;
    })();
    etcd.close(); // at the moment at which GOAWAY arrives
    await new Promise((passed) => setTimeout(passed, 50));
  });

  it('is closed after its idle time', async () => {
    await using fake = await answering();
    const etcd = connect(fake, { idleMillis: 50 });
    await etcd.status();
    await expect.poll(fake.openConnections).toBe(0);
    expect(await etcd.status()).toMatchObject(version);
  });

  it('without answers to pings fails all its calls', async () => {
    await using silent = await listen();
    const endpoint = { url: `http://127.0.0.1:${silent.port}`, dialer: dialerTo(silent) };
    // A ping before the connection opens fails with another message.
    const etcd = connect(endpoint, { pingMillis: 1_000, pongMillis: 50 });
    const noAnswer = { kind: 'unreachable', message: expect.stringContaining('no answer to a ping') };
    await expect(etcd.status()).rejects.toMatchObject(noAnswer);
  });
});
