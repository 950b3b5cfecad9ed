import { describe, expect, it } from 'vitest';
import { parseBody } from './decode.ts';

const parse = (text: string, contentType = 'application/yaml'): unknown =>
  parseBody({ body: Buffer.from(text), contentType });

describe('the body of a request', () => {
  it('is read as YAML or JSON by its content type', () => {
    expect(parse('kind: Pod\nspec: { on: 1e3, at: 2026-11-18T00:00:00Z, is: yes }')).toEqual({
      kind: 'Pod',
      spec: { on: 1000, at: '2026-11-18T00:00:00Z', is: 'yes' },
    });
    expect(parse('{"kind":"Pod"}', 'application/apply-patch+yaml')).toEqual({ kind: 'Pod' });
    expect(parse('{"kind":"Pod"}', 'application/json')).toEqual({ kind: 'Pod' });
    expect(parse(' ')).toBeUndefined();
  });

  it('is refused with the line of a mistake in its YAML', () => {
    const unrecognized = 'the object provided is unrecognized: ';
    expect(() => parse('kind: Pod\nkind: Service')).toThrow(/^the object provided is unrecognized: .* line 2/);
    for (const text of ['a: [1', 'a: 1\n---\nb: 2', 'a: !!binary aGk=', 'a: !own b'])
      expect(() => parse(text), text).toThrow(unrecognized);
  });

  it('has U+FFFD for half a surrogate pair in JSON', () => {
    const text = String.raw`{"\ud800":["\ude00","\ud83d\ude00","\\ud800"]}`;
    expect(parse(text, 'application/json')).toEqual({ '\ufffd': ['\ufffd', '😀', String.raw`\ud800`] });
  });

  it('is refused with an escaped surrogate in YAML', () => {
    const message = /found invalid Unicode character escape code/;
    for (const text of [String.raw`a: "\ud800"`, String.raw`{"a":"\ud800"}`, String.raw`{"a":"\ud83d\ude00"}`])
      expect(() => parse(text), text).toThrow(message);
    for (const text of ['a: 😀', '{"a":"😀"}']) expect(parse(text)).toEqual({ a: '😀' });
    expect(parse(String.raw`{"a":"\\ud800"}`)).toEqual({ a: String.raw`\ud800` });
  });

  it('is refused in any other format', () => {
    expect(() => parse('kind=Pod', 'text/plain')).toThrow(/media type/i);
  });
});
