import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const isTest = (file: string): boolean => /\.(?:test|e2e|contract)\.ts$/.test(file);

/** Texts of other authors, generated files, and this file, which contains the words. */
const isOwnText = (file: string): boolean =>
  !/^(?:LICENSE|package-lock\.json|tools\/images\/licences\/.*|.*\/gen\/.*|.*\/go\.sum|test\/language\.test\.ts)$/.test(
    file,
  );
const sources = tracked.filter((file) => file.endsWith('.ts') && !file.includes('/gen/') && !isTest(file));

/** Words for persons. "whose" is allowed: English has no other relative possessive for a thing. */
const person = /\b(?:who(?:m|ever)?|no one|(?:no|some|any|every)body|(?:some|any|every)one)\b/i;

/** The lines of a text with a word for a person. */
const personal = (file: string, text: string): readonly string[] =>
  text.split('\n').flatMap((line, index) => (person.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : []));

const exported =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) +([\w$]+)/gm;

/** The exported names of a file. Overloads of a function count once. */
const namesIn = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(exported)].map(([, name = '']) => name));

/** One name for one thing, declared in folders that must not import each other or that mirror each other. */
const oneMeaning: Readonly<Record<string, string>> = {
  EventContent: 'apis and runtime must not import each other',
  MemberId: 'core and etcd must not import each other',
  StoreKind: 'core and objectstore must not import each other',
  TemplateValues: 'core and objectstore must not import each other',
  act: 'the verdict "act" of a cluster and of a restore',
  wait: 'the verdict "wait" of a cluster and of a restore',
  withCachedSecrets: 'the same wrapper for the context of a cluster and of a restore',
  etcdCluster: 'a sample of the EtcdCluster of each API',
  setup: 'the name that vitest calls',
};

/** A name has one meaning within a program. Programs are the top folders. */
const programOf = (file: string): string => file.split('/')[0] ?? '';

/** True if the files are the twins of both APIs, or a kind in the lab's API server and its resource in the lab's client. */
function areTwins(files: readonly string[]): boolean {
  const isIn = (folder: string) => (file: string) => file.startsWith(folder);
  const pairs = [
    ['src/apis/coreos-v1beta2/', 'src/apis/improbable-v1alpha1/'],
    ['lab/apiserver/kinds/', 'lab/kinds.ts'],
  ];
  return files.length === 2 && pairs.some((pair) => pair.every((folder) => files.some(isIn(folder))));
}

/** The names that several files of one program export, with these files. */
function repeated(texts: ReadonlyMap<string, string>): ReadonlyMap<string, readonly string[]> {
  const files = Map.groupBy(
    [...texts].flatMap(([file, text]) => [...namesIn(text)].map((name) => ({ file, name, program: programOf(file) }))),
    ({ name, program }) => `${program} ${name}`,
  );
  return new Map(
    [...files.values()]
      .map((found) => [found[0]?.name ?? '', found.map(({ file }) => file)] as const)
      .filter(([, declaring]) => declaring.length > 1 && !areTwins(declaring)),
  );
}

describe('the language', () => {
  it('has no word for a person where a thing is meant', () => {
    const texts = tracked.filter((file) => isOwnText(file) && /\.(?:ts|md|sh|ya?ml|json)$|file$|^\.ci/.test(file));
    expect(texts.length).toBeGreaterThan(1000);
    expect(texts.flatMap((file) => personal(file, read(file)))).toEqual([]);
  });

  it('is searched for words, not for parts of words or for "whose"', () => {
    expect(personal('a.ts', '// Everyone returns\n// the whole Pod, whose PVC is lost\n// Pods who wait')).toEqual([
      'a.ts:1: // Everyone returns',
      'a.ts:3: // Pods who wait',
    ]);
  });

  it('gives an exported name one meaning within src, lab, test, tools and bench', () => {
    const names = repeated(new Map(sources.map((file) => [file, read(file)])));
    const unexpected = [...names].filter(([name]) => !(name in oneMeaning));
    expect(unexpected).toEqual([]);
    expect(Object.keys(oneMeaning).filter((name) => !names.has(name))).toEqual([]);
  });

  it('detects a name that two files export, except in the twins of both APIs', () => {
    const declares = 'export interface Thing {}\nexport const made = 1;\n';
    expect([
      ...repeated(
        new Map([
          ['src/a.ts', declares],
          ['src/b.ts', 'export async function made() {}'],
        ]),
      ).keys(),
    ]).toEqual(['made']);
    expect(
      repeated(
        new Map([
          ['src/a.ts', declares],
          ['lab/a.ts', declares],
        ]),
      ).size,
    ).toBe(0);
    const twins = ['src/apis/coreos-v1beta2/x.ts', 'src/apis/improbable-v1alpha1/y.ts'];
    expect(repeated(new Map(twins.map((file) => [file, declares]))).size).toBe(0);
  });

  it('has at most 20 sources in a folder, tests and their support aside', () => {
    const folders = Map.groupBy(
      sources.filter((file) => !file.startsWith('test/')),
      (file) => dirname(file),
    );
    expect(
      [...folders].filter(([, files]) => files.length > 20).map(([folder, { length }]) => `${folder}: ${length}`),
    ).toEqual([]);
  });
});
