import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../open.ts';
import type { ObjectStore } from '../store.ts';

async function* bytes(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

describe('a volume for backups', () => {
  let [directory, volume, outside] = ['', '', ''];
  const open = (): Promise<ObjectStore> => openStore({ kind: 'file', bucket: 'claim' }, { volume });

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'file-store-'));
    [volume, outside] = [join(directory, 'volume'), join(directory, 'outside')];
    for (const each of [volume, outside]) mkdirSync(each);
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('gets the directories that are in a key', async () => {
    await (await open()).put('a/b/c.db', bytes('x'));
    expect(readFileSync(join(volume, 'a/b/c.db'), 'utf8')).toBe('x');
  });

  it('keeps the object that was there where the disk returns other bytes than were written', async () => {
    const store = await open();
    await store.put('a.db', bytes('good'));
    const onBadDisk = async function* () {
      yield Buffer.from('next');
      const aside = readdirSync(volume).find((name) => name.endsWith('.unfinished')) ?? '';
      writeFileSync(join(volume, aside), 'nfxt');
    };
    await expect(store.put('a.db', onBadDisk())).rejects.toMatchObject({ trouble: 'damaged' });
    expect(readFileSync(join(volume, 'a.db'), 'utf8')).toBe('good');
    expect(readdirSync(volume)).toEqual(['a.db']);
  });

  it('has nothing written outside of it, not even a directory, where a link leads there', async () => {
    symlinkSync(outside, join(volume, 'out'));
    await expect((await open()).put('out/a/b.db', bytes('x'))).rejects.toMatchObject({ trouble: 'denied' });
    expect(readdirSync(outside)).toEqual([]);
  });

  it.each(['member/snap/db', 'data/member/snap/db', 'data/member/x.db', 'data/x.db', 'data/more/x.db'])(
    'has nothing written into a data directory of etcd: %s',
    async (key) => {
      const data = key.startsWith('data') ? join(volume, 'data') : volume;
      for (const each of ['wal', 'snap']) mkdirSync(join(data, 'member', each), { recursive: true });
      writeFileSync(join(data, 'member/snap/db'), 'data of etcd');
      await expect((await open()).put(key, bytes('x'))).rejects.toThrow('the data directory of an etcd is there');
      expect(readFileSync(join(data, 'member/snap/db'), 'utf8')).toBe('data of etcd');
      expect(existsSync(join(data, 'x.db'))).toBe(false);
    },
  );

  it('has nothing written where it cannot be told whether a data directory of etcd is there', async () => {
    symlinkSync('member', join(volume, 'member')); // ELOOP, for root too
    const putting = (await open()).put('a/x.db', bytes('x'));
    await expect(putting).rejects.toThrow('cannot tell whether the data directory of an etcd is there: ELOOP');
    expect(readdirSync(volume)).toEqual(['member']);
  });

  it('has no data of etcd where a file is in place of its directory', async () => {
    writeFileSync(join(volume, 'member'), 'no directory');
    await (await open()).put('x.db', bytes('x'));
    expect(readFileSync(join(volume, 'x.db'), 'utf8')).toBe('x');
  });
});
