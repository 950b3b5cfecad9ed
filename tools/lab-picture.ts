import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheDirectory } from './lib/cache.ts';
import { runMain, UserError } from './lib/main.ts';

/** Draws `docs/guide/lab.svg`: the live view of a running lab that scales its first cluster. */
const picture = join(import.meta.dirname, '../docs/guide/lab.svg');
const program = join(import.meta.dirname, '../lab/main.ts');
const size = { columns: 112, rows: 34 };
const cell = { width: 8.4, height: 18 };
const timeoutMillis = 120_000;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll(' ', '\u00A0');

function svgOf(lines: readonly string[]): string {
  const width = Math.round(size.columns * cell.width) + 32;
  const height = lines.length * cell.height + 40;
  const texts = lines.map((line, i) => `  <text x="16" y="${(i + 1) * cell.height + 12}">${escaped(line)}</text>`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" role="img">`,
    '  <title>The live view of the lab</title>',
    '  <style>rect { fill: #1b1f27 } text { fill: #dfe3ea; font: 14px monospace }</style>',
    '  <rect width="100%" height="100%" rx="8"/>',
    ...texts,
    '</svg>',
    '',
  ].join('\n');
}

/** The last complete screen in the output. The lab redraws the whole screen each time. */
function lastScreen(sent: string): readonly string[] {
  const frames = sent.split('\u001B[H').slice(1);
  const frame = frames.findLast((each) => each.includes('\u001B[J')) ?? '';
  return frame.slice(0, frame.indexOf('\u001B[J')).replaceAll('\u001B[K', '').split('\r\n');
}

const isComplete = (lines: readonly string[]): boolean =>
  lines.some((line) => line.includes('Then try')) && lines.some((line) => line.includes('healthy:'));

async function screenOfLab(home: string): Promise<readonly string[]> {
  const words = [process.execPath, program, '--state', join(home, 'lab')];
  const typed = `stty cols ${size.columns} rows ${size.rows}; exec ${words.join(' ')}`;
  const env = { ...process.env, TERM: 'xterm', HOME: home, XDG_CACHE_HOME: join(cacheDirectory(), '..') };
  const terminal = spawn('script', ['-qfec', typed, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  let sent = '';
  const ended = once(terminal, 'exit');
  const seen = new Promise<readonly string[]>((resolve) => {
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
      sent += text;
      if (isComplete(lastScreen(sent))) resolve(lastScreen(sent));
    });
  });
  const timer = setTimeout(() => terminal.stdin.write('\u0003'), timeoutMillis);
  const lines = await Promise.race([seen, ended.then(() => undefined)]);
  clearTimeout(timer);
  terminal.stdin.write('\u0003');
  await ended;
  if (lines === undefined) throw new UserError(`the lab did not show a healthy cluster in time: ${sent.slice(-500)}`);
  return lines.map((line) => line.replaceAll(home, '~').trimEnd());
}

await runMain(async () => {
  const home = mkdtempSync(join(tmpdir(), 'lab-picture-'));
  try {
    writeFileSync(picture, svgOf(await screenOfLab(home)));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
