import { expect, it } from 'vitest';
import { version, versions } from './arguments.ts';

it('an etcd version is accepted with or without a leading v', () => {
  expect(version('3.5.21')).toBe('3.5.21');
  expect(version('v3.5.21')).toBe('3.5.21');
  expect(versions('v3.5.35, 3.6.16')).toEqual(['3.5.35', '3.6.16']);
});

it('an invalid etcd version is refused with the expected form', () => {
  for (const text of ['newest', '3.5', 'v', '3.5.21-rc.0', '', '3.5.21; ls'])
    expect(() => version(text)).toThrow(`"${text}" is not an etcd version: use the form 3.5.35`);
  expect(() => versions('3.5.35,latest')).toThrow('"latest" is not an etcd version');
});
