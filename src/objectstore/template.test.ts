import { describe, expect, it } from 'vitest';
import { isUnique, renderTemplate, sharedPrefix } from './template.ts';

const values = { name: 'daily', namespace: 'prod', uid: '1-2-3', creationTimestamp: '2026-01-31T12:00:00Z' };
const field = 'spec.destination.objectURLTemplate';

describe('a URL template', () => {
  const good: Record<string, string> = {
    's3://b/k': 's3://b/k',
    's3://b/{{ .Namespace }}/{{.Name}}/{{- .UID -}}.db': 's3://b/prod/daily/1-2-3.db',
    's3://b/{{ .ObjectMeta.UID }}': 's3://b/1-2-3',
    's3://b/{{ .CreationTimestamp }}': 's3://b/2026-01-31T12%3A00%3A00Z',
  };
  for (const [template, rendered] of Object.entries(good))
    it(`is rendered: ${template}`, () => {
      expect(renderTemplate(template, values, field)).toBe(rendered);
    });

  for (const template of ['{{ .Colour }}', '{{ Name }}', '{{ .Name', 'a }} b', '{{ printf "%s" .Name }}', '{{ }}'])
    it(`is refused with the known fields: ${template}`, () => {
      expect(() => renderTemplate(template, values, field)).toThrow(
        /^spec\.destination\.objectURLTemplate: .*use \{\{ \.Name \}\}/,
      );
    });

  it('is unique if it has a field that differs for every backup', () => {
    expect(isUnique('s3://b/{{ .UID }}')).toBe(true);
    expect(isUnique('s3://b/{{.Namespace}}')).toBe(false);
  });

  it.each([
    ['s3://b/k', 'k'],
    ['s3://b/a%20b/{{ .UID }}.db', 'a b/'],
    ['s3://b/{{ .Namespace }}/{{.Name}}-{{ .UID }}?region=x', 'prod/'],
    ['s3://{{ .Namespace }}/{{ .UID }}', ''],
    ['s3://{{ .Name }}/k', ''],
    ['s3://b/k?region={{ .Name }}', 'k'],
  ])('%s has the shared prefix "%s"', (template, prefix) => {
    expect(sharedPrefix(template, 'prod')).toBe(prefix);
  });
});
