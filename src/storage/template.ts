import { Failure } from '../std/failure.ts';

/** What a template of an object's URL may speak of: the backup it is for. */
export interface TemplateWords {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** As the API server writes it: `2026-01-31T12:00:00Z`. */
  readonly creationTimestamp: string;
}

const words: Readonly<Record<string, keyof TemplateWords>> = {
  Name: 'name',
  Namespace: 'namespace',
  UID: 'uid',
  CreationTimestamp: 'creationTimestamp',
};

/** Fills in `{{ .Name }}`, `{{ .Namespace }}`, `{{ .UID }}` and `{{ .CreationTimestamp }}`. */
export function renderTemplate(template: string, values: TemplateWords, field: string): string {
  const rendered = template.replaceAll(/\s*\{\{-\s*|\{\{\s*/g, '{{').replaceAll(/\s*-\}\}\s*|\s*\}\}/g, '}}');
  return rendered.replaceAll(/\{\{(.*?)\}\}|\{\{|\}\}/g, (whole, action: string | undefined) => {
    const word = /^\.(?:ObjectMeta\.)?(\w+)$/.exec(action ?? '')?.[1] ?? '';
    const name = words[word];
    if (name !== undefined) return encodeURIComponent(values[name]);
    throw new Failure('rejected', `${field}: ${unknown(action, whole)}: ${remedy}`);
  });
}

/**
 * The beginning of the keys that a template gives to all objects of a namespace: up to the first word that is another for
 * each of them.
 */
export function sharedPrefix(template: string, namespace: string): string {
  const common = template.replaceAll(/\{\{-?\s*\.(?:ObjectMeta\.)?Namespace\s*-?\}\}/g, encodeURIComponent(namespace));
  const [beginning = ''] = common.split(/\{\{|\?/, 1);
  return decodeURIComponent(/^[^/]*:\/\/[^/]+\/(.*)$/.exec(beginning)?.[1] ?? '');
}

const unknown = (action: string | undefined, whole: string): string =>
  action === undefined ? `"${whole}" has no other half` : `"{{ ${action} }}" means nothing here`;

const remedy = `known are ${Object.keys(words)
  .map((word) => `{{ .${word} }}`)
  .join(', ')}`;

/** Whether each backup made from a template gets an object of its own. */
export const isUnique = (template: string): boolean =>
  /\{\{-?\s*\.(?:ObjectMeta\.)?(?:UID|Name|CreationTimestamp)\s*-?\}\}/.test(template);
