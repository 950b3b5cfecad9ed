import { describe, expect, it } from 'vitest';
import { lastWords } from './last-words.ts';

const settings = `se-client-urls":["http://db-1.db.ns.svc:2379"],"downgrade-check-interval":"5s"}
{"level":"info","ts":"2026-11-16T18:27:28.178270Z","caller":"etcdserver/backend.go:81","msg":"opened backend db"}`;

const stack = `goroutine 1 [running]:
go.uber.org/zap/zapcore.(*CheckedEntry).Write(0x3c18152c4180, {0x3c1815231cc0, 0x1, 0x1})
	go.uber.org/zap@v1.17.0/zapcore/entry.go:234 +0x31c`;

describe('the last words of a process', () => {
  it.each<{ title: string; log: string; says: string }>([
    {
      title: 'are the panic in a log of JSON, wherever it stands',
      log: `${settings}\n{"level":"panic","caller":"raft.go:492","msg":"failed to create WAL","error":"no space left on device","stacktrace":"go.etcd.io"}\npanic: failed to create WAL\n\n${stack}`,
      says: 'failed to create WAL: no space left on device',
    },
    {
      title: 'are the error, where nothing was worse',
      log: `${settings}\n{"level":"error","msg":"discovery failed"}\n{"level":"info","msg":"closed"}`,
      says: 'discovery failed',
    },
    {
      title: 'are what was fatal rather than the errors around it',
      log: '{"level":"fatal","msg":"discovery failed","error":"member 1 has already been bootstrapped"}\n{"level":"error","msg":"late"}',
      says: 'discovery failed: member 1 has already been bootstrapped',
    },
    {
      title: 'are the critical line of an etcd before 3.5',
      log: '2026-11-16 18:39:59.195060 I | etcdserver: initial cluster = a\n2026-11-16 18:39:59.195154 C | etcdserver: create wal error: no space left on device\n',
      says: 'etcdserver: create wal error: no space left on device',
    },
    {
      title: "are Go's own, with the cause that is left of an entry whose beginning is lost",
      log: `t.go:492","msg":"failed to create WAL","error":"no space left on device","stacktrace":"x"}\npanic: failed to create WAL\n\n${stack}`,
      says: 'panic: failed to create WAL: no space left on device',
    },
    {
      title: "are Go's own alone",
      log: `x"}\npanic: file size too small\n\n${stack}`,
      says: 'panic: file size too small',
    },
    {
      title: 'are the warning at the end, as of a setting that etcd knows no more',
      log: `${settings}\n{"level":"warn","msg":"failed to verify flags","error":"--logger=capnslog is removed in v3.5"}\n`,
      says: 'failed to verify flags: --logger=capnslog is removed in v3.5',
    },
    {
      title: 'are not a warning that etcd went on after',
      log: '{"level":"warn","msg":"slow fdatasync"}\nKilled\n',
      says: '{"level":"warn","msg":"slow fdatasync"}\nKilled',
    },
    { title: 'are all there is, of a program that writes as it likes', log: 'one\n\ntwo\n', says: 'one\ntwo' },
    { title: 'are nothing, if nothing was said', log: '', says: '' },
  ])('$title', ({ log, says }) => {
    expect(lastWords(log)).toBe(says);
  });

  it('are never longer than an Event has room for, and keep the end of plain output', () => {
    expect(lastWords(`${'x'.repeat(5000)} no space left`)).toMatch(/^…x+ no space left$/);
    expect(lastWords(`{"level":"panic","msg":"why ${'x'.repeat(1500)}"}`)).toMatch(/^why x+…$/);
    expect(lastWords('y'.repeat(5000))).toHaveLength(400);
  });
});
