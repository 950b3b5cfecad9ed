import { authorize } from '../auth/authorize.ts';
import type { User } from '../auth/user.ts';
import type { ServerState } from '../state.ts';
import { methodNotAllowed, NoSuchPath, notFound, StatusError } from '../status-error.ts';
import { serveLogs } from '../streams/logs.ts';
import { inForm } from '../tables/response-form.ts';
import { hasSubresource, type ResourceType } from '../types/resource-type.ts';
import { type ApiResponse, type Call, namedOf } from '../verbs/call.ts';
import { create } from '../verbs/create.ts';
import { get, list } from '../verbs/list.ts';
import { patch } from '../verbs/patch.ts';
import { remove, removeCollection } from '../verbs/remove.ts';
import { review } from '../verbs/review.ts';
import { subresources } from '../verbs/subresources.ts';
import { update } from '../verbs/update.ts';
import { type WatchEvent, watch } from '../verbs/watch.ts';
import { type Form, formOf } from './negotiate.ts';
import { type RequestTarget, targetOf } from './paths.ts';
import { addWarnings, bodyOf, type Request, type Response, sendJson } from './respond.ts';

type Verb = (call: Call) => ApiResponse | Promise<ApiResponse>;

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

/** A parsed request: its resource, verb and handler. */
export interface ParsedRequest {
  readonly target: RequestTarget;
  readonly type: ResourceType;
  /** The verb for authorization. */
  readonly verb: string;
  readonly handle: Verb;
}

export function parseRequest(state: ServerState, method: string, url: URL): ParsedRequest | undefined {
  const target = targetOf(url.pathname);
  if (target === undefined) return undefined;
  const type = state.types.find(target);
  if (type === undefined) throw new NoSuchPath();
  if (target.subresource !== undefined) return ofSubresource(type, target, method);
  return ofMethod(type, target, isWatch(url) ? 'WATCH' : method);
}

const isWatch = ({ searchParams }: URL): boolean => /^(true|1)$/.test(searchParams.get('watch') ?? '');

function ofMethod(type: ResourceType, target: RequestTarget, method: string): ParsedRequest {
  const [verb, handle] = (target.name === undefined ? ofCollections : ofObjects)[method] ?? [];
  if (verb === undefined || handle === undefined || !type.verbs.includes(verb)) throw methodNotAllowed();
  return { target, type, verb, handle: isReview(type) ? review : handle };
}

const isReview = ({ group }: ResourceType): boolean => /^(authentication|authorization)\.k8s\.io$/.test(group);

const subresourceVerbs: Readonly<Record<string, string>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
};

function ofSubresource(type: ResourceType, target: RequestTarget, method: string): ParsedRequest {
  const name = target.subresource ?? '';
  // For a custom resource Kubernetes reports the object as not found.
  if (!hasSubresource(type, name))
    throw type.custom === undefined ? new NoSuchPath() : notFound(namedOf(type, target.name ?? ''));
  const verb = subresourceVerbs[method] ?? '';
  const handle = subresources[name]?.[verb];
  if (handle === undefined) throw methodNotAllowed();
  return { target, type, verb, handle };
}

export interface RequestContext {
  readonly state: ServerState;
  readonly user: User;
  readonly request: Request;
  readonly response: Response;
  readonly url: URL;
}

/** Serves a request for a resource. */
export async function serveResource(
  context: RequestContext,
  { target, type, verb, handle }: ParsedRequest,
): Promise<void> {
  const { state, user, request, response, url } = context;
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
  const { code, body, warnings } = await handle(call);
  addWarnings(response, warnings);
  sendJson(response, code, inForm(form, type, body));
}

const headerOf = (request: Request, name: string): string => {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
};

const maxQueuedBytes = 16 * 1024 * 1024;

function serveWatch(call: Call, form: Form, response: Response): void {
  response.statusCode = 200;
  response.setHeader('content-type', 'application/json');
  const send = (event: { type: string; object: object }): void => {
    response.write(`${JSON.stringify(event)}\n`);
    // A slow client must not fill the memory. It reconnects and receives the changes it missed.
    if (response.writableLength > maxQueuedBytes) response.end();
  };
  const sendInForm = (event: WatchEvent): void =>
    send(event.type === 'BOOKMARK' ? event : { ...event, object: inForm(form, call.type, event.object) });
  try {
    response.flushHeaders();
    const stop = watch(call, { send: sendInForm, end: () => response.end() });
    response.once('close', stop);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    send({ type: 'ERROR', object: error.status() });
    response.end();
  }
}
