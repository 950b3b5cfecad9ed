import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Environment } from '@marcbachmann/cel-js';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../src/kube/object.ts';

interface Named {
  readonly name: string;
  readonly expression: string;
}

interface Policy {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly matchConstraints: {
      readonly resourceRules: readonly {
        readonly apiGroups: readonly string[];
        readonly resources: readonly string[];
      }[];
    };
    readonly matchConditions: readonly Named[];
    readonly variables: readonly Named[];
    readonly validations: readonly { readonly expression: string; readonly message: string }[];
  };
}

export interface Request {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly user: string;
  readonly object?: object | undefined;
  readonly oldObject?: object | undefined;
}

const environment = new Environment({ unlistedVariablesAreDyn: true });

/** A ValidatingAdmissionPolicy of ours, evaluated as the API server does. */
export class AdmissionPolicy {
  readonly documents: readonly KubeObject[];
  readonly #policy: Policy;

  constructor(file: string) {
    const text = readFileSync(join(import.meta.dirname, '../..', file), 'utf8');
    this.documents = parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
    this.#policy = this.documents[0] as unknown as Policy;
  }

  get name(): string {
    return this.#policy.metadata.name;
  }

  /** The plural names of the resources that the policy matches. */
  get resources(): readonly string[] {
    return this.#policy.spec.matchConstraints.resourceRules.flatMap(({ resources }) => resources);
  }

  /** The message with which the policy refuses a request; undefined if it admits the request. */
  refusalOf({ operation, user, object, oldObject }: Request): string | undefined {
    const { matchConditions, variables, validations } = this.#policy.spec;
    const known: Record<string, unknown> = {};
    const request = { operation, userInfo: { username: user } };
    const scope = { request, object: object ?? null, oldObject: oldObject ?? null, variables: known };
    const evaluate = (expression: string): unknown => environment.evaluate(expression, scope);
    if (!matchConditions.every(({ expression }) => evaluate(expression))) return undefined;
    for (const { name, expression } of variables) known[name] = evaluate(expression);
    return validations.find(({ expression }) => evaluate(expression) !== true)?.message;
  }
}
