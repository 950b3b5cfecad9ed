import { z } from 'zod';
import { anything, notTooMuch } from './pod-budget.ts';
import { partsOf, quantityForm } from './quantity.ts';
import { listBy, looksLike, type Rule, ruled, table, text } from './rule.ts';

/**
 * Pieces of Kubernetes' own API that users write in ours and that are copied into pods and claims. What is cheap to check
 * is checked; the rest of the large types is kept as it is, and judged by the API server when the pod is created.
 */

const int32 = 2_147_483_647;
/** Of a user or group. */
const id = z.int().min(0).max(int32);

const labelName = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?[/])?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** The rule that all keys of a map can be names of labels or annotations. */
export const properNames = (of: string): Rule<Readonly<Record<string, string>>> => ({
  cel: `self.all(name, name.size() <= 317 && name.matches(r'${labelName.source}'))`,
  says: `each ${of} name must be up to 63 letters, digits, '-', '_' and '.', optionally after a DNS name and '/'`,
  holds: (entries) => Object.keys(entries).every((name) => name.length <= 317 && labelName.test(name)),
});

export const labelValue = ruled(
  text(63),
  looksLike(
    /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/,
    "must be up to 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends",
  ),
);

export const nodeSelector = ruled(table(labelValue, 32), properNames('label'));

export const quantity = ruled(
  z
    .union([z.int(), text(32)], { error: 'must be a whole number or text' })
    .meta({ 'x-kubernetes-int-or-string': true, maxLength: 32 }),
  {
    cel: `string(self).matches(r'${quantityForm.source}')`,
    says: 'must be a quantity that is not negative, such as 500m, 2 or 1.5Gi',
    holds: (value) => quantityForm.test(String(value)),
  },
);

const quantities = table(quantity, 16);
type Quantities = z.output<typeof quantities>;

const withinLimits = (requests: Quantities, limits: Quantities): boolean =>
  Object.entries(requests).every(([name, wanted]) => {
    const limit = limits[name];
    return limit === undefined || partsOf(wanted) <= partsOf(limit);
  });

/** Of a request that is no quantity at all, that is said in its own place. */
const celWithinLimit = (request: string, limit: string): string =>
  `!isQuantity(${request}) || !isQuantity(${limit}) || quantity(${request}).compareTo(quantity(${limit})) <= 0`;

export const resources = ruled(z.object({ limits: quantities.optional(), requests: quantities.optional() }), {
  cel:
    '!has(self.limits) || !has(self.requests) || self.requests.all(name, !(name in self.limits) || ' +
    `${celWithinLimit('string(self.requests[name])', 'string(self.limits[name])')})`,
  says: 'a request must not be more than the limit of the same resource: raise the limit or lower the request',
  holds: ({ limits, requests }) => withinLimits(requests ?? {}, limits ?? {}),
});

export const affinity = z.object({
  nodeAffinity: anything.optional(),
  podAffinity: anything.optional(),
  podAntiAffinity: anything.optional(),
});

export const toleration = z.object({
  key: text(317).optional(),
  operator: z.enum(['', 'Exists', 'Equal', 'Lt', 'Gt']).optional(),
  value: text(63).optional(),
  effect: z.enum(['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional(),
  tolerationSeconds: z.int().min(-int32).max(int32).optional(),
});

type Variable = z.ZodObject<{
  name: z.ZodString;
  value: z.ZodOptional<z.ZodString>;
  valueFrom: z.ZodOptional<typeof anything>;
}>;

interface Setting {
  readonly name: string;
  readonly value?: string | undefined;
}

/** A negative retention has some versions of etcd compact without end, and a line break is never meant. */
const properSetting: Rule<Setting> = {
  cel: "!self.name.startsWith('ETCD_') || !has(self.value) || !(self.value.startsWith('-') || self.value.contains('\\n'))",
  says: 'the value of a setting of etcd must not be negative, and must not have line breaks',
  holds: ({ name, value = '' }) => !name.startsWith('ETCD_') || !(value.startsWith('-') || value.includes('\n')),
};

/** Etcd's own names and defaults. */
const elections = { name: 'ETCD_ELECTION_TIMEOUT', milliseconds: 1000 } as const;
const heartbeats = { name: 'ETCD_HEARTBEAT_INTERVAL', milliseconds: 100 } as const;
type Timing = typeof elections | typeof heartbeats;

const wholeNumber = /^\d+$/; // short, because the API server reckons the cost of a rule by the length of its patterns

const celMilliseconds = ({ name, milliseconds }: Timing): string =>
  `self.filter(each, each.name == '${name}' && has(each.value) && each.value.matches(r'${wholeNumber.source}'))` +
  `.map(each, int(each.value)) + [${milliseconds}]`;

const millisecondsIn = (settings: readonly Setting[], { name, milliseconds }: Timing): number => {
  const written = settings.find((each) => each.name === name)?.value ?? '';
  return wholeNumber.test(written) ? Number(written) : milliseconds;
};

/** With less, etcd does not start. What is no number is etcd's to refuse. */
const patientElections: Rule<readonly Setting[]> = {
  cel: `(${celMilliseconds(elections)})[0] >= 5 * (${celMilliseconds(heartbeats)})[0]`,
  says: `${elections.name} must be at least five times ${heartbeats.name}: raise the one or lower the other`,
  holds: (settings) => millisecondsIn(settings, elections) >= 5 * millisecondsIn(settings, heartbeats),
};

/** A list of environment variables, whose names must also keep the given rule. */
export const environment = (rule: Rule<string>): z.ZodArray<Variable> =>
  ruled(
    listBy(
      'name',
      ruled(
        z.object({
          name: ruled(
            text(253),
            looksLike(
              /^[-._a-zA-Z][-._a-zA-Z0-9]*$/,
              "must be made of letters, digits, '_', '-' and '.', and not begin with a digit",
            ),
            rule,
          ),
          value: text(32_768).optional(),
          valueFrom: anything.optional(),
        }),
        properSetting,
      ),
      128,
    ),
    patientElections,
  );

export const podSecurityContext = notTooMuch(
  z.looseObject({
    runAsUser: id.optional(),
    runAsGroup: id.optional(),
    runAsNonRoot: z.boolean().optional(),
    fsGroup: id.optional(),
    supplementalGroups: z.array(id).max(64).optional(),
  }),
);

const size: Rule<z.output<typeof quantity>> = {
  cel: "!isQuantity(string(self)) || quantity(string(self)).isGreaterThan(quantity('0'))",
  says: 'must be more than nothing, such as 1Gi',
  holds: (value) => partsOf(value) > 0n,
};

/** Only the API server knows what was asked for before. */
const noShrinking: Rule<z.output<typeof quantity>> = {
  cel:
    '!isQuantity(string(self)) || !isQuantity(string(oldSelf)) || ' +
    'quantity(string(self)).compareTo(quantity(string(oldSelf))) >= 0',
  says: 'must not be less than before: a volume can grow, but not shrink',
  holds: () => true,
};

const copied = (field: 'dataSource' | 'dataSourceRef'): Rule<Readonly<Record<string, unknown>>> => ({
  cel: `!has(self.${field})`,
  says: `${field} is not supported, as a member must start on an empty volume and use nothing of another namespace: leave it out`,
  holds: (claim) => claim[field] === undefined,
});

/** A claim for a volume with nothing on it. */
export const startsEmpty = [copied('dataSource'), copied('dataSourceRef')] as const;

export const claimSpec = ruled(
  z.object({
    accessModes: ruled(z.array(text(64)).min(1).max(4), {
      cel: "!('ReadOnlyMany' in self)",
      says: 'must not be ReadOnlyMany: etcd writes to its volume',
      holds: (modes) => !modes.includes('ReadOnlyMany'),
    }),
    resources: z.object({
      requests: z.object({ storage: ruled(quantity, size, noShrinking) }),
      limits: z.object({ storage: quantity.optional() }).optional(),
    }),
    storageClassName: text(253).optional(),
    volumeAttributesClassName: text(253).optional(),
    volumeMode: z.enum(['Filesystem'], { error: 'must be Filesystem: etcd keeps files' }).optional(),
    volumeName: text(253).optional(),
    selector: anything.optional(),
    dataSource: anything.optional(),
    dataSourceRef: anything.optional(),
  }),
  copied('dataSource'),
  copied('dataSourceRef'),
);
