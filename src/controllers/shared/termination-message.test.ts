import { describe, expect, it } from 'vitest';
import { terminationMessage } from './termination-message.ts';

const settings = `se-client-urls":["http://db-1.db.ns.svc:2379"],"downgrade-check-interval":"5s"}
{"level":"info","ts":"2026-11-16T18:27:28.178270Z","caller":"etcdserver/backend.go:81","msg":"opened backend db"}`;

const stack = `goroutine 1 [running]:
go.uber.org/zap/zapcore.(*CheckedEntry).Write(0x3c18152c4180, {0x3c1815231cc0, 0x1, 0x1})
	go.uber.org/zap@v1.17.0/zapcore/entry.go:234 +0x31c`;

describe('the termination message of a process', () => {
  it.each<{ title: string; log: string; message: string }>([
    {
      title: 'is the panic of a JSON log, at any position',
      log: `${settings}\n{"level":"panic","caller":"raft.go:492","msg":"failed to create WAL","error":"no space left on device","stacktrace":"go.etcd.io"}\npanic: failed to create WAL\n\n${stack}`,
      message: 'failed to create WAL: no space left on device',
    },
    {
      title: 'is the error if there is no panic',
      log: `${settings}\n{"level":"error","msg":"discovery failed"}\n{"level":"info","msg":"closed"}`,
      message: 'discovery failed',
    },
    {
      title: 'is the fatal entry rather than the errors around it',
      log: '{"level":"fatal","msg":"discovery failed","error":"member 1 has already been bootstrapped"}\n{"level":"error","msg":"late"}',
      message: 'discovery failed: member 1 has already been bootstrapped',
    },
    {
      title: 'is the critical line of etcd before 3.5',
      log: '2026-11-16 18:39:59.195060 I | etcdserver: initial cluster = a\n2026-11-16 18:39:59.195154 C | etcdserver: create wal error: no space left on device\n',
      message: 'etcdserver: create wal error: no space left on device',
    },
    {
      title: 'is the panic line of Go with the cause from a truncated log entry',
      log: `t.go:492","msg":"failed to create WAL","error":"no space left on device","stacktrace":"x"}\npanic: failed to create WAL\n\n${stack}`,
      message: 'panic: failed to create WAL: no space left on device',
    },
    {
      title: 'is the panic line of Go if there is no cause',
      log: `x"}\npanic: file size too small\n\n${stack}`,
      message: 'panic: file size too small',
    },
    {
      title: 'is the warning in the last line, for example about a removed flag',
      log: `${settings}\n{"level":"warn","msg":"failed to verify flags","error":"--logger=capnslog is removed in v3.5"}\n`,
      message: 'failed to verify flags: --logger=capnslog is removed in v3.5',
    },
    {
      title: 'is not a warning before the last line',
      log: '{"level":"warn","msg":"slow fdatasync"}\nKilled\n',
      message: '{"level":"warn","msg":"slow fdatasync"}\nKilled',
    },
    { title: 'is the whole output if no line has a known format', log: 'one\n\ntwo\n', message: 'one\ntwo' },
    { title: 'is empty for an empty log', log: '', message: '' },
  ])('$title', ({ log, message }) => {
    expect(terminationMessage(log)).toBe(message);
  });

  it('is cut to 400 characters, and keeps the end of plain output', () => {
    expect(terminationMessage(`${'x'.repeat(5000)} no space left`)).toMatch(/^…x+ no space left$/);
    expect(terminationMessage(`{"level":"panic","msg":"why ${'x'.repeat(1500)}"}`)).toMatch(/^why x+…$/);
    expect(terminationMessage('y'.repeat(5000))).toHaveLength(400);
  });
});
