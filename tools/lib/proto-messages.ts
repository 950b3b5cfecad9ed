import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.ts';

/** A field of a message: its name, its type, and whether it is a list or a map. */
type Field = readonly [name: string, type: string, many?: 'list' | 'map'];
type Message = Record<string, Field>;

const field = /^\s*(?:(optional|repeated)\s+([\w.]+)|map<\w+,\s*([\w.]+)>)\s+(\w+)\s*=\s*(\d+);/;

/** The protobuf messages of these schemas, from the sources of the imitated Kubernetes. kubectl uses this encoding. */
export async function messages(wanted: ReadonlySet<string>): Promise<Record<string, Message>> {
  const all: Record<string, Message> = {};
  for (const module of ['k8s.io/api', 'k8s.io/apimachinery', 'k8s.io/apiextensions-apiserver']) {
    const cwd = join(import.meta.dirname, '../programs/kubernetes');
    const place = (await run('go', ['list', '-mod=mod', '-m', '-f', '{{.Dir}}', module], { cwd })).trim();
    for (const file of globSync('**/generated.proto', { cwd: place }))
      Object.assign(all, messagesIn(readFileSync(join(place, file), 'utf8')));
  }
  return reachable(all, wanted);
}

/** The wanted messages and all messages they refer to. Inlined messages have no schema of their own. */
function reachable(all: Readonly<Record<string, Message>>, wanted: ReadonlySet<string>): Record<string, Message> {
  const reached: Record<string, Message> = {};
  const reach = (name: string): void => {
    const message = all[name];
    if (message === undefined || reached[name] !== undefined) return;
    reached[name] = message;
    for (const [, type] of Object.values(message)) reach(type);
  };
  for (const name of wanted) reach(name);
  return Object.fromEntries(Object.entries(reached).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** OpenAPI names equal message names with the first two parts swapped. */
const openapiName = (name: string): string => name.replace(/^\.?k8s\.io\./, 'io.k8s.');

function messagesIn(source: string): Record<string, Message> {
  const pack = openapiName(/^package ([\w.]+);/m.exec(source)?.[1] ?? '');
  const found: Record<string, Message> = {};
  for (const [, name = '', body = ''] of source.matchAll(/^message (\w+) \{\n([\s\S]*?)^\}/gm)) {
    const fields = body.split('\n').flatMap((line) => fieldIn(line, pack));
    const message: Message = Object.fromEntries(fields);
    found[`${pack}.${name}`] = message;
  }
  return found;
}

const typeName = (type: string, pack: string): string => {
  if (/^\.?k8s\.io\./.test(type)) return openapiName(type);
  return /^[A-Z]/.test(type) ? `${pack}.${type}` : type;
};

/** The field on a line, with its number; empty if there is none. */
function fieldIn(line: string, pack: string): readonly (readonly [string, Field])[] {
  const found = field.exec(line);
  if (found === null) return [];
  const [, many, single, value, name = '', number = ''] = found;
  if (value !== undefined) return [[number, [name, typeName(value, pack), 'map']]];
  const type = typeName(single ?? '', pack);
  return [[number, many === 'repeated' ? [name, type, 'list'] : [name, type]]];
}
