import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheDirectory } from './lib/cache.ts';
import { Complaint, runMain } from './lib/main.ts';

/** Draws `docs/guide/lab.svg`: what the lab shows on a terminal, taken from a real one that scales its first cluster. */
const picture = join(import.meta.dirname, '../docs/guide/lab.svg');
const program = join(import.meta.dirname, '../src/main/etcd-operator.ts');
const size = { columns: 112, rows: 34 };
const cell = { width: 8.4, height: 18 };
const patienceMillis = 120_000;

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

/** What a terminal shows that was sent these bytes: the lab draws the whole screen each time. */
function lastScreen(sent: string): readonly string[] {
  const frames = sent.split('\u001B[H').slice(1);
  const frame = frames.findLast((each) => each.includes('\u001B[J')) ?? '';
  return frame.slice(0, frame.indexOf('\u001B[J')).replaceAll('\u001B[K', '').split('\r\n');
}

const isWorthSeeing = (lines: readonly string[]): boolean =>
  lines.some((line) => line.includes('Then try')) && lines.some((line) => line.includes('as desired'));

async function shownByTheLab(home: string): Promise<readonly string[]> {
  const words = [process.execPath, program, 'lab', '--state', join(home, 'lab')];
  const typed = `stty cols ${size.columns} rows ${size.rows}; exec ${words.join(' ')}`;
  const env = { ...process.env, TERM: 'xterm', HOME: home, XDG_CACHE_HOME: join(cacheDirectory(), '..') };
  const terminal = spawn('script', ['-qfec', typed, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  let sent = '';
  const ended = once(terminal, 'exit');
  const seen = new Promise<readonly string[]>((resolve) => {
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
      sent += text;
      if (isWorthSeeing(lastScreen(sent))) resolve(lastScreen(sent));
    });
  });
  const timer = setTimeout(() => terminal.stdin.write('\u0003'), patienceMillis);
  const lines = await Promise.race([seen, ended.then(() => undefined)]);
  clearTimeout(timer);
  terminal.stdin.write('\u0003');
  await ended;
  if (lines === undefined) throw new Complaint(`the lab showed nothing worth a picture: ${sent.slice(-500)}`);
  return lines.map((line) => line.replaceAll(home, '~').trimEnd());
}

await runMain(async () => {
  const home = mkdtempSync(join(tmpdir(), 'lab-picture-'));
  try {
    writeFileSync(picture, svgOf(await shownByTheLab(home)));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
