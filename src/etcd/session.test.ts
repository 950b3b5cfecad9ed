import { once } from 'node:events';
import { type Socket, connect as socketTo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { connect, listen } from '../../test/support/etcd-connect.ts';
import { type FakeAnswers, type FakeEtcd, never, startFakeEtcd } from '../../test/support/etcd-fake.ts';
import { makeAuthority } from '../lab/pki.ts';
import { Failure } from '../std/failure.ts';
import type { Way } from './endpoint.ts';

const version = { version: '3.6.0' };
const answering = (maintenance: FakeAnswers['maintenance'] = {}): Promise<FakeEtcd> =>
  startFakeEtcd({ maintenance: { status: () => version, ...maintenance } });

describe('a member that hangs', () => {
  it('costs a call its time and no more, and the next goes over another connection', async () => {
    let hangs = true;
    await using fake = await answering({ status: (...call) => (hangs ? never(...call) : version) });
    const etcd = connect(fake, { timeoutMillis: 50 });
    await expect(etcd.status()).rejects.toMatchObject({ kind: 'unreachable', mayBeDone: true });
    hangs = false;
    expect(await etcd.status({ timeoutMillis: 2_000 })).toMatchObject(version);
    expect(fake.connections()).toBe(2);
    await expect.poll(fake.openConnections).toBe(1);
  });

  it('does not cost another call its connection', async () => {
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
    await expect(parts.next()).rejects.toThrow('damaged');
    await expect.poll(fake.openConnections).toBe(0);
  });

  it('is given up at once when the caller loses interest, also before the call', async () => {
    await using fake = await answering({ status: never });
    const etcd = connect(fake);
    const controller = new AbortController();
    const asked = etcd.status({ signal: controller.signal });
    controller.abort();
    await expect(asked).rejects.toMatchObject({ kind: 'unreachable', message: expect.stringContaining('called off') });
    await expect(etcd.status({ signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: 'unreachable' });
  });

  it('does not hang us in its TLS handshake, and its socket is not left behind', async () => {
    await using silent = await listen();
    const etcd = connect({ url: `https://127.0.0.1:${silent.port}` }, { timeoutMillis: 100 });
    await expect(etcd.status()).rejects.toMatchObject({ kind: 'unreachable' });
    await expect.poll(() => silent.sockets.map(({ closed }) => closed)).toEqual([true]);
  });

  it('does not hang calls for long that may take long', async () => {
    await using silent = await listen();
    const etcd = connect({ url: `https://127.0.0.1:${silent.port}` }, { pingMillis: 50 });
    await expect(etcd.defragment()).rejects.toMatchObject({ message: expect.stringContaining('not connected within') });
  });
});

const wayTo = ({ port }: { readonly port: number }, sockets: Socket[] = []): Way => {
  const open = async (): Promise<Socket> => {
    const socket = socketTo(port, '127.0.0.1');
    await once(socket, 'connect');
    sockets.push(socket);
    return socket;
  };
  return open;
};

describe('a connection that is given up', () => {
  it('while it opens raises no error where nobody can catch it', async () => {
    await using fake = await answering();
    for (let turns = 0; turns < 12; turns++) {
      const etcd = connect({ url: fake.url });
      const asked = etcd.status().catch((thrown: unknown) => Failure.from(thrown).kind);
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
      etcd.close();
      await asked;
    }
    expect(await connect({ url: fake.url }).status()).toMatchObject(version); // an error nobody catches fails the run itself
  });
});

describe('a way other than dialling', () => {
  it('leads to the member, is shared, and is closed with the connection', async () => {
    await using fake = await answering();
    const etcd = connect({ url: 'http://db-0.db.default.svc:2379', way: wayTo(fake) });
    expect(await Promise.all([etcd.status(), etcd.status()])).toMatchObject([version, version]);
    expect(fake.connections()).toBe(1);
    etcd.close();
    await expect.poll(fake.openConnections).toBe(0);
  });

  it('is no less safe: the name is checked, and nothing stays open behind TLS', async () => {
    const authority = await makeAuthority('test');
    const identity = await authority.issue({ commonName: 'm0', dns: ['m0.test'] });
    await using fake = await startFakeEtcd({ maintenance: { status: () => version } }, identity);
    const [tls, way] = [{ ca: authority.certificate }, wayTo(fake)];
    await expect(connect({ url: 'https://m1.test', tls, way }).status()).rejects.toThrow('TLS failed');
    const etcd = connect({ url: 'https://m0.test', tls, way });
    expect(await etcd.status()).toMatchObject(version);
    etcd.close();
    await expect.poll(fake.openConnections).toBe(0);
  });

  it('that breaks is found again', async () => {
    await using fake = await answering();
    const sockets: Socket[] = [];
    const etcd = connect({ url: fake.url, way: wayTo(fake, sockets) });
    await etcd.status();
    sockets[0]?.destroy(new Failure('unreachable', 'the pod is gone'));
    await expect.poll(() => etcd.status().catch(() => undefined)).toMatchObject(version);
    expect(sockets).toHaveLength(2);
  });

  it('that cannot be found is no answer, and is looked for again', async () => {
    await using fake = await answering();
    const ways: Way[] = [() => Promise.reject(new Failure('unreachable', 'no such pod')), wayTo(fake)];
    const etcd = connect({ url: fake.url, way: (signal) => (ways.shift() as Way)(signal) });
    await expect(etcd.status()).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('no such pod'),
    });
    expect(await etcd.status()).toMatchObject(version);
  });

  it('that takes too long is called off, and not used when it is found after all', async () => {
    await using fake = await answering();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const calledOff: boolean[] = [];
    const way: Way = async (signal) => {
      await late;
      calledOff.push(signal.aborted);
      return wayTo(fake)(signal);
    };
    const etcd = connect({ url: fake.url, way }, { timeoutMillis: 50 });
    await expect(etcd.status()).rejects.toMatchObject({ kind: 'unreachable' });
    resolve();
    await expect.poll(() => calledOff).toEqual([true]);
    await expect.poll(() => [fake.connections(), fake.openConnections()]).toEqual([1, 0]);
  });
});

describe('a connection', () => {
  it('is shared by calls, and closed for good when we close it', async () => {
    await using fake = await answering();
    const etcd = connect(fake);
    await Promise.all([etcd.status(), etcd.status()]);
    await etcd.status();
    expect(fake.connections()).toBe(1);
    etcd.close();
    await expect.poll(fake.openConnections).toBe(0);
    await expect(etcd.status()).rejects.toMatchObject({ kind: 'unreachable', mayBeDone: false });
  });

  it('ends the calls that are open when we close it', async () => {
    await using fake = await answering({ status: never });
    const etcd = connect(fake);
    const asked = expect(etcd.status()).rejects.toMatchObject({ kind: 'unreachable' });
    await expect.poll(fake.openConnections).toBe(1);
    etcd.close();
    await asked;
  });

  it('pings while a call is open, and only then', async () => {
    const { promise: goOn, resolve } = Promise.withResolvers<void>();
    await using fake = await answering({ status: async () => (await goOn, version) });
    const etcd = connect({ url: fake.url, way: wayTo(fake) }, { pingMillis: 30 });
    const asked = etcd.status();
    await expect.poll(fake.pings).toBeGreaterThan(2);
    resolve();
    await asked;
    const pings = fake.pings();
    await new Promise((passed) => setTimeout(passed, 200));
    expect(fake.pings() - pings).toBeLessThanOrEqual(1); // one may have been on its way; otherwise there would be six
  });

  it('goes where it is told to, and expects the name that the URL says', async () => {
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

  it('takes names as well as addresses, of either kind', async () => {
    await using fake = await answering();
    expect(await connect({ url: `http://localhost:${fake.port}` }).status()).toMatchObject(version);
    const dial = { host: '127.0.0.1', port: fake.port };
    expect(await connect({ url: 'http://[::1]:2379', dial }).status()).toMatchObject(version);
    await expect(connect({ url: 'http://[::1]:1' }).status()).rejects.toThrow(/ECONNREFUSED|EADDRNOTAVAIL/);
  });

  it('says what is wrong with what it was given', async () => {
    const tls = { ca: 'no certificate', cert: 'none', key: 'none' };
    await expect(connect({ url: 'https://127.0.0.1:1', tls }).status()).rejects.toThrow('TLS failed');
    for (const url of ['a:2379', 'localhost', '', 'ftp://a'])
      expect(() => connect({ url })).toThrow('no address of a member');
  });

  it('says what is wrong when there is no etcd at its other end', async () => {
    await using web = await listen('HTTP/1.1 400 Bad Request\r\n\r\n');
    const failure = { kind: 'unreachable', message: expect.stringContaining(`127.0.0.1:${web.port}`) };
    await expect(connect({ url: `http://127.0.0.1:${web.port}` }).status()).rejects.toMatchObject(failure);
    await expect(connect({ url: `https://127.0.0.1:${web.port}` }).status()).rejects.toThrow(
      /TLS failed: wrong version/,
    );
    for (const url of ['http://127.0.0.1:1', 'http://no-such-host.invalid:1'])
      await expect(connect({ url }).status()).rejects.toMatchObject({ kind: 'unreachable', mayBeDone: false });
  });

  it('is left in peace by the other side: hanging up without a word is not the end of us', async () => {
    const etcd = await (async () => {
      await using fake = await answering();
      const connection = connect(fake);
      await connection.status();
      return connection;
    })();
    etcd.close(); // in the very moment in which its "I go away" arrives
    await new Promise((passed) => setTimeout(passed, 50));
  });

  it('is given back when it was not used for a while', async () => {
    await using fake = await answering();
    const etcd = connect(fake, { idleMillis: 50 });
    await etcd.status();
    await expect.poll(fake.openConnections).toBe(0);
    expect(await etcd.status()).toMatchObject(version);
  });

  it('is dead when it gives no sign of life, for all calls that wait for it', async () => {
    await using silent = await listen();
    const endpoint = { url: `http://127.0.0.1:${silent.port}`, way: wayTo(silent) };
    const etcd = connect(endpoint, { pingMillis: 30, pongMillis: 50 });
    const noSign = { kind: 'unreachable', message: expect.stringContaining('sign of life') };
    await expect(etcd.status()).rejects.toMatchObject(noSign);
  });
});
