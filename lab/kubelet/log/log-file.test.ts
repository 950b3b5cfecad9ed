import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { LogFile } from './log-file.ts';

it('followers of a log receive all lines when the disk is full', async () => {
  const log = new LogFile('/dev/full');
  const output = new PassThrough();
  const received: string[] = [];
  const first = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const receive = (text: string): void => {
    received.push(text);
    first.resolve();
  };
  log.follow(({ text }) => receive(text), ended.resolve);
  log.take('stdout', output);
  output.write('one\n');
  await first.promise;
  await log.flushed();
  output.end('two\n');
  await ended.promise;
  expect(received).toEqual(['one', 'two']);
  expect(log.tail).toBe('one\ntwo');
});
