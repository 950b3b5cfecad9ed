import { authorize } from '../auth/authorize.ts';
import type { User } from '../auth/user.ts';
import { methodNotAllowed, NoSuchPath, notFound, Refusal } from '../refusal.ts';
import type { ServerState } from '../state.ts';
import { serveLogs } from '../streams/logs.ts';
import { answerIn } from '../tables/answer.ts';
import { hasSubresource, type ResourceType } from '../types/resource-type.ts';
import { type Answer, type Call, namedOf } from '../verbs/call.ts';
import { create } from '../verbs/create.ts';
import { get, list } from '../verbs/list.ts';
import { patch } from '../verbs/patch.ts';
import { remove, removeCollection } from '../verbs/remove.ts';
import { review } from '../verbs/review.ts';
import { subresources } from '../verbs/subresources.ts';
import { update } from '../verbs/update.ts';
import { type WatchEvent, watch } from '../verbs/watch.ts';
import { type Form, formOf } from './negotiate.ts';
import { type Target, targetOf } from './paths.ts';
import { addWarnings, bodyOf, type Request, type Response, sendJson } from './respond.ts';

type Verb = (call: Call) => Answer | Promise<Answer>;

const ofObjects: Readonly<Record<string, readonly [string, Verb]>> = {
  GET: ['get', get],
  WATCH: ['watch', get],
  PUT: ['update', update],
  PATCH: ['patch', patch],
  DELETE: ['delete', remove],
};
const ofCollections: Readonly<Record<string, readonly [string, Verb]>> = {
  GET: ['list', list],
  WATCH: ['watch', list],
  POST: ['create', create],
  DELETE: ['deletecollection', removeCollection],
};

/** What a request is about, and how it is done. */
export interface Understood {
  readonly target: Target;
  readonly type: ResourceType;
  /** The word for it by which it is allowed or not. */
  readonly verb: string;
  readonly act: Verb;
}

export function understood(state: ServerState, method: string, url: URL): Understood | undefined {
  const target = targetOf(url.pathname);
  if (target === undefined) return undefined;
  const type = state.types.find(target);
  if (type === undefined) throw new NoSuchPath();
  if (target.subresource !== undefined) return ofSubresource(type, target, method);
  return ofMethod(type, target, isWatch(url) ? 'WATCH' : method);
}

const isWatch = ({ searchParams }: URL): boolean => /^(true|1)$/.test(searchParams.get('watch') ?? '');

function ofMethod(type: ResourceType, target: Target, method: string): Understood {
  const [verb, act] = (target.name === undefined ? ofCollections : ofObjects)[method] ?? [];
  if (verb === undefined || act === undefined || !type.verbs.includes(verb)) throw methodNotAllowed();
  return { target, type, verb, act: isReview(type) ? review : act };
}

const isReview = ({ group }: ResourceType): boolean => /^(authentication|authorization)\.k8s\.io$/.test(group);

const subresourceVerbs: Readonly<Record<string, string>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
};

function ofSubresource(type: ResourceType, target: Target, method: string): Understood {
  const name = target.subresource ?? '';
  // Of a custom resource the object is said to be missing, as by Kubernetes.
  if (!hasSubresource(type, name))
    throw type.custom === undefined ? new NoSuchPath() : notFound(namedOf(type, target.name ?? ''));
  const verb = subresourceVerbs[method] ?? '';
  const act = subresources[name]?.[verb];
  if (act === undefined) throw methodNotAllowed();
  return { target, type, verb, act };
}

export interface Asked {
  readonly state: ServerState;
  readonly user: User;
  readonly request: Request;
  readonly response: Response;
  readonly url: URL;
}

/** Does what a request about a resource asks for. */
export async function serveResource(asked: Asked, { target, type, verb, act }: Understood): Promise<void> {
  const { state, user, request, response, url } = asked;
  authorize(state, user, { verb, ...target });
  if (target.subresource === 'log') return serveLogs({ state, target, query: url.searchParams, response });
  const call: Call = {
    state,
    type,
    target,
    query: url.searchParams,
    user,
    contentType: headerOf(request, 'content-type'),
    userAgent: headerOf(request, 'user-agent'),
    body: await bodyOf(request),
  };
  const form = formOf(request.headers.accept, url.searchParams);
  if (verb === 'watch') return serveWatch(call, form, response);
  const { code, body, warnings } = await act(call);
  addWarnings(response, warnings);
  sendJson(response, code, answerIn(form, type, body));
}

const headerOf = (request: Request, name: string): string => {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
};

const longestQueue = 16 * 1024 * 1024;

function serveWatch(call: Call, form: Form, response: Response): void {
  response.statusCode = 200;
  response.setHeader('content-type', 'application/json');
  const send = (event: { type: string; object: object }): void => {
    response.write(`${JSON.stringify(event)}\n`);
    // Whoever does not read must not fill the memory: it will come back, and be told what it missed.
    if (response.writableLength > longestQueue) response.end();
  };
  const shaped = (event: WatchEvent): void =>
    send(event.type === 'BOOKMARK' ? event : { ...event, object: answerIn(form, call.type, event.object) });
  try {
    response.flushHeaders();
    const stop = watch(call, { send: shaped, end: () => response.end() });
    response.once('close', stop);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    send({ type: 'ERROR', object: error.status() });
    response.end();
  }
}
