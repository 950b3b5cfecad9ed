import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../object.ts';
import type { ObjectChange } from './history.ts';
import { Store } from './store.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'store-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const place = (name: string) => ({ collection: '/configmaps', namespace: 'n', name });
const object = (name: string, content = ''): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'n' }, content }) as unknown as KubeObject;

describe('the store', () => {
  it('counts every change and restores all objects after a restart', () => {
    const first = new Store(directory);
    expect(first.put(place('a'), object('a')).metadata.resourceVersion).toBe('1');
    first.put(place('b'), object('b'));
    first.remove(place('a'));
    first.close();
    const second = new Store(directory);
    expect(second.version).toBe(3);
    expect(second.list('/configmaps').map(({ metadata }) => metadata.name)).toEqual(['b']);
    second.close();
  });

  it('drops an incomplete last change', () => {
    const first = new Store(directory);
    first.put(place('a'), object('a'));
    first.close();
    appendFileSync(join(directory, 'objects.log'), '{"version":2,"key":"/configmaps n/');
    const second = new Store(directory);
    second.put(place('b'), object('b'));
    second.close();
    const third = new Store(directory);
    expect(third.list('/configmaps').map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
    third.close();
  });

  it('compacts its file and keeps the version when an object changes often', () => {
    const store = new Store(directory);
    const much = 'x'.repeat(100_000);
    for (let change = 0; change < 200; change += 1) store.put(place('a'), object('a', much));
    store.put(place('b'), object('b'));
    store.remove(place('b'));
    expect(statSync(join(directory, 'objects.log')).size).toBeLessThan(9_000_000);
    store.close();
    const again = new Store(directory);
    expect(again.version).toBe(202);
    expect(again.get(place('a'))?.metadata.resourceVersion).toBe('200');
    again.close();
  });

  it('reports every change even if its file cannot be rewritten', () => {
    const store = new Store(directory);
    mkdirSync(join(directory, 'objects.log.new')); // where the new file would be
    const versions: number[] = [];
    store.listen(({ version }) => versions.push(version));
    for (let change = 0; change < 100; change += 1) store.put(place('a'), object('a', 'x'.repeat(100_000)));
    expect(versions).toHaveLength(100);
    store.close();
    const again = new Store(directory);
    expect(again.version).toBe(100);
    again.close();
  });

  it('can be read after its disk was full, with every acknowledged change', async () => {
    const script = `
      import { Store } from ${JSON.stringify(join(import.meta.dirname, 'store.ts'))};
      const store = new Store(${JSON.stringify(directory)});
      const put = (name, content) => store.put({ collection: '/configmaps', namespace: 'n', name }, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'n' }, content });
      let count = 0;
      try { for (;;) { put('o' + (count + 1), 'x'.repeat(3000)); count += 1; } } catch {}
      put('small', '');
      process.stdout.write(String(count));`;
    const limited = ['-c', 'ulimit -f 64; exec "$@"', 'sh', process.execPath, '--input-type=module', '--eval', script];
    const child = spawn('/bin/sh', limited, { stdio: ['ignore', 'pipe', 'inherit'] });
    const count = Number(await text(child.stdout));
    expect(count).toBeGreaterThan(5);
    const store = new Store(directory);
    expect(store.list('/configmaps')).toHaveLength(count + 1);
    expect(store.get(place(`o${count}`))).toBeDefined();
    expect(store.get(place('small'))).toBeDefined();
    store.close();
  });

  it('returns the changes after a version, unless it is too old', () => {
    const store = new Store(directory);
    for (let change = 0; change < 9000; change += 1) store.put(place('a'), object('a'));
    expect(
      store
        .historyOf('/configmaps')
        .after(8998)
        ?.map(({ version }: ObjectChange) => version),
    ).toEqual([8999, 9000]);
    expect(store.historyOf('/configmaps').after(1)).toBeUndefined();
    store.close();
  });

  it('has every acknowledged change after its process was killed', async () => {
    const script = `
      import { Store } from ${JSON.stringify(join(import.meta.dirname, 'store.ts'))};
      const store = new Store(${JSON.stringify(directory)});
      for (let n = 1; ; n += 1) {
        const { metadata } = store.put({ collection: '/configmaps', namespace: 'n', name: 'o' + n }, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'o' + n, namespace: 'n' } });
        process.stdout.write(metadata.resourceVersion + '\\n');
        if (n % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      }`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.length > 3000) child.kill('SIGKILL');
    });
    await once(child, 'close');
    const last = Number(output.split('\n').at(-2));
    expect(last).toBeGreaterThan(100);
    const store = new Store(directory);
    expect(store.version).toBeGreaterThanOrEqual(last);
    expect(store.get(place(`o${last}`))).toBeDefined();
    expect(readFileSync(join(directory, 'objects.log'), 'utf8').endsWith('\n')).toBe(true);
    store.close();
  });
});
