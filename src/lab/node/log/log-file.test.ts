import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { LogFile } from './log-file.ts';

it('goes on telling those who follow when the disk is full', async () => {
  const log = new LogFile('/dev/full');
  const output = new PassThrough();
  const heard: string[] = [];
  const first = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const hear = (text: string): void => {
    heard.push(text);
    first.resolve();
  };
  log.follow(({ text }) => hear(text), ended.resolve);
  log.take('stdout', output);
  output.write('one\n');
  await first.promise;
  await log.flushed();
  output.end('two\n');
  await ended.promise;
  expect(heard).toEqual(['one', 'two']);
  expect(log.tail).toBe('one\ntwo');
});
