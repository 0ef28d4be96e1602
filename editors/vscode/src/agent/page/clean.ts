// An event as an agent's words have made it, brought to its types: the page trusts no member of it.
import type { AgentEvent, Call, FileDiff, Image, Kind } from '../event';

/** Bounds of what the page takes in, in characters; what is longer is in a document. */
export const most = { text: 256 << 10, title: 4 << 10, id: 1000, options: 1000, entries: 1000, files: 200, places: 1000, images: 100, raw: 64 << 10 };

type Bag = Record<string, unknown>;
const bag = (v: unknown): v is Bag => typeof v === 'object' && v !== null && !Array.isArray(v);
const text = (v: unknown, limit = most.text): string | undefined => typeof v === 'string' ? v.slice(0, limit) : undefined;
const id = (v: unknown) => text(v, most.id);
const size = (v: unknown): number | undefined => typeof v === 'number' && Number.isFinite(v) && v >= 0 ? v : undefined;
const list = <T>(v: unknown, limit: number, of: (v: Bag) => T | undefined): T[] | undefined =>
  Array.isArray(v) ? v.slice(0, limit).map(e => bag(e) ? of(e) : undefined).filter(e => e !== undefined) : undefined;

/** Without the members that aren't there. */
function given<T extends object>(v: T): T {
  const out = {} as T;
  for (const key in v) {
    if (v[key] !== undefined) { out[key] = v[key]; }
  }
  return out;
}

function cleanCall(c: Bag): Call | undefined {
  const call = id(c.call);
  return call === undefined ? undefined : given<Call>({
    call, kind: id(c.kind), title: text(c.title, most.title), outcome: id(c.outcome), uri: id(c.uri), outputBytes: size(c.outputBytes),
    locations: list(c.locations, most.places, l => typeof l.path === 'string' ? given({ path: l.path.slice(0, 4096), line: size(l.line) }) : undefined),
    diff: list(c.diff, most.files, (d): FileDiff | undefined => typeof d.path === 'string' && typeof d.new === 'string'
      ? given({ path: d.path.slice(0, 4096), old: text(d.old), new: d.new.slice(0, most.text) }) : undefined),
  });
}

const kinds: Record<string, string> = { png: 'image/png', jpg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp' };
function cleanImage(i: Bag): Image | undefined {
  const end = typeof i.image === 'string' ? /^[0-9a-f]{32}\.(png|jpg|gif|webp)$/.exec(i.image)?.[1] : undefined, width = size(i.width), height = size(i.height), bytes = size(i.bytes);
  return end && i.mime === kinds[end] && width && height && bytes ? given({ image: i.image as string, mime: i.mime as string, bytes, width, height, alt: text(i.alt, 200) }) : undefined;
}

function cleanRule(r: Bag): AgentEvent['always'] {
  const prefix = Array.isArray(r.prefix) ? r.prefix.slice(0, 100).filter(w => typeof w === 'string').map(w => w.slice(0, 200)) : [];
  return prefix.length > 0 ? given({ prefix, decision: id(r.decision) ?? '', rest: id(r.rest), packages: id(r.packages), host: id(r.host) }) : undefined;
}

/** The event with what of it has the right type; undefined for what is none. */
export function clean(v: unknown): AgentEvent | undefined {
  if (!bag(v) || typeof v.run !== 'string' || !Number.isSafeInteger(v.seq) || (v.seq as number) < 0 || typeof v.kind !== 'string') {
    return undefined;
  }
  const usage = bag(v.usage) ? v.usage : undefined;
  return given<AgentEvent>({
    run: v.run, seq: v.seq as number, kind: v.kind.slice(0, 100) as Kind, time: id(v.time) ?? '',
    message: id(v.message), role: id(v.role), delta: text(v.delta), text: v.kind === 'call.output' && typeof v.text === 'string' ? v.text.slice(-most.text) : text(v.text),
    call: bag(v.call) ? cleanCall(v.call) : undefined,
    state: (['idle', 'running', 'waiting', 'paused', 'ended'] as const).find(s => s === v.state), reason: id(v.reason), retryAt: id(v.retryAt), attempt: size(v.attempt),
    question: id(v.question), expiresAt: id(v.expiresAt), irrecoverable: v.irrecoverable === true || undefined, custom: v.custom === true || undefined, answer: text(v.answer, most.title), by: id(v.by),
    options: list(v.options, most.options, o => typeof o.id === 'string' ? given({ id: o.id.slice(0, most.id), label: text(o.label, 200) ?? o.id.slice(0, 200), kind: id(o.kind) }) : undefined),
    always: bag(v.always) ? cleanRule(v.always) : undefined,
    items: list(v.items, 100, i => typeof i.item === 'string' ? given({ item: i.item, text: text(i.text) ?? '', attachments: list(i.attachments, 100, a => typeof a.kind === 'string' ? given({ kind: a.kind, uri: id(a.uri) }) : undefined) }) : undefined),
    images: list(v.images, 100, cleanImage),
    paused: v.paused === true || undefined,
    step: size(v.step),
    plan: list(v.plan, most.entries, p => typeof p.text === 'string' ? given({ text: p.text.slice(0, most.title), status: id(p.status), priority: id(p.priority) }) : undefined),
    usage: usage && given({ used: size(usage.used), size: size(usage.size), cost: size(usage.cost), currency: text(usage.currency, 10) }),
    child: id(v.child), agent: id(v.agent), title: text(v.title, most.title), session: id(v.session), parent: id(v.parent), ref: id(v.ref), cut: size(v.cut),
    raw: v.raw === undefined || v.raw === null ? undefined : rawText(v.raw),
  });
}

/** What nothing here has a member for, as text. */
function rawText(v: unknown): string {
  try {
    return (typeof v === 'string' ? v : JSON.stringify(v, null, 2)).slice(0, most.raw);
  } catch {
    return '';
  }
}
