import { expect, it } from 'vitest';
import { version, versions } from './arguments.ts';

it('takes a version of etcd with or without its v', () => {
  expect(version('3.5.21')).toBe('3.5.21');
  expect(version('v3.5.21')).toBe('3.5.21');
  expect(versions('v3.5.35, 3.6.16')).toEqual(['3.5.35', '3.6.16']);
});

it('says how a version is written to who writes anything else', () => {
  for (const text of ['newest', '3.5', 'v', '3.5.21-rc.0', '', '3.5.21; ls'])
    expect(() => version(text)).toThrow(`"${text}" is no version of etcd: write it as in 3.5.35`);
  expect(() => versions('3.5.35,latest')).toThrow('"latest" is no version of etcd');
});
