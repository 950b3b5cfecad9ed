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

  it('gets the directories of a key', async () => {
    await (await open()).put('a/b/c.db', bytes('x'));
    expect(readFileSync(join(volume, 'a/b/c.db'), 'utf8')).toBe('x');
  });

  it('keeps the old object if the volume returns other bytes than were written', async () => {
    const store = await open();
    await store.put('a.db', bytes('good'));
    const onBadVolume = async function* () {
      yield Buffer.from('next');
      const temporary = readdirSync(volume).find((name) => name.endsWith('.unfinished')) ?? '';
      writeFileSync(join(volume, temporary), 'nfxt');
    };
    await expect(store.put('a.db', onBadVolume())).rejects.toMatchObject({ trouble: 'damaged' });
    expect(readFileSync(join(volume, 'a.db'), 'utf8')).toBe('good');
    expect(readdirSync(volume)).toEqual(['a.db']);
  });

  it('gets no file or directory outside of it through a symbolic link', async () => {
    symlinkSync(outside, join(volume, 'out'));
    await expect((await open()).put('out/a/b.db', bytes('x'))).rejects.toMatchObject({ trouble: 'denied' });
    expect(readdirSync(outside)).toEqual([]);
  });

  it.each(['member/snap/db', 'data/member/snap/db', 'data/member/x.db', 'data/x.db', 'data/more/x.db'])(
    'gets no file in a data directory of etcd: %s',
    async (key) => {
      const data = key.startsWith('data') ? join(volume, 'data') : volume;
      for (const each of ['wal', 'snap']) mkdirSync(join(data, 'member', each), { recursive: true });
      writeFileSync(join(data, 'member/snap/db'), 'data of etcd');
      await expect((await open()).put(key, bytes('x'))).rejects.toThrow('it contains a data directory of etcd');
      expect(readFileSync(join(data, 'member/snap/db'), 'utf8')).toBe('data of etcd');
      expect(existsSync(join(data, 'x.db'))).toBe(false);
    },
  );

  it('gets no file if the check for a data directory of etcd fails', async () => {
    symlinkSync('member', join(volume, 'member')); // ELOOP, for root too
    const putting = (await open()).put('a/x.db', bytes('x'));
    await expect(putting).rejects.toThrow('cannot check for a data directory of etcd: ELOOP');
    expect(readdirSync(volume)).toEqual(['member']);
  });

  it('has no data directory of etcd if "member" is a file', async () => {
    writeFileSync(join(volume, 'member'), 'no directory');
    await (await open()).put('x.db', bytes('x'));
    expect(readFileSync(join(volume, 'x.db'), 'utf8')).toBe('x');
  });
});
