import { Failure } from '../std/failure.ts';

/** Values for the fields of a URL template, from the metadata of the EtcdBackup. */
export interface TemplateValues {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** In the format of the API server: `2026-01-31T12:00:00Z`. */
  readonly creationTimestamp: string;
}

const fields: Readonly<Record<string, keyof TemplateValues>> = {
  Name: 'name',
  Namespace: 'namespace',
  UID: 'uid',
  CreationTimestamp: 'creationTimestamp',
};

/** Fills in `{{ .Name }}`, `{{ .Namespace }}`, `{{ .UID }}` and `{{ .CreationTimestamp }}`. */
export function renderTemplate(template: string, values: TemplateValues, field: string): string {
  const rendered = template.replaceAll(/\s*\{\{-\s*|\{\{\s*/g, '{{').replaceAll(/\s*-\}\}\s*|\s*\}\}/g, '}}');
  return rendered.replaceAll(/\{\{(.*?)\}\}|\{\{|\}\}/g, (whole, action: string | undefined) => {
    const word = /^\.(?:ObjectMeta\.)?(\w+)$/.exec(action ?? '')?.[1] ?? '';
    const name = fields[word];
    if (name !== undefined) return encodeURIComponent(values[name]);
    throw new Failure('rejected', `${field}: ${problemWith(action, whole)}: ${remedy}`);
  });
}

/** The prefix that the keys of all objects of a namespace share: the template up to its first varying field. */
export function sharedPrefix(template: string, namespace: string): string {
  const common = template.replaceAll(/\{\{-?\s*\.(?:ObjectMeta\.)?Namespace\s*-?\}\}/g, encodeURIComponent(namespace));
  const [beginning = ''] = common.split(/\{\{|\?/, 1);
  return decodeURIComponent(/^[^/]*:\/\/[^/]+\/(.*)$/.exec(beginning)?.[1] ?? '');
}

const problemWith = (action: string | undefined, whole: string): string =>
  action === undefined ? `"${whole}" is unbalanced` : `unknown template field "{{ ${action} }}"`;

const remedy = `use ${Object.keys(fields)
  .map((name) => `{{ .${name} }}`)
  .join(', ')}`;

/** True if each backup of a template gets an object of its own. */
export const isUnique = (template: string): boolean =>
  /\{\{-?\s*\.(?:ObjectMeta\.)?(?:UID|Name|CreationTimestamp)\s*-?\}\}/.test(template);
