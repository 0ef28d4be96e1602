// The messages between the Agent view's page and the extension. No VS Code in here: the page has this file, too.
import type { Agent, AgentEvent, RunInfo } from './event';

// ---- From the extension to its page

export type ToPage =
  | { type: 'view'; view: View }
  /** Which run is shown; without one the agents to start are. */
  | { type: 'select'; run?: string }
  /** An agent was chosen that the person has to allow first: the page asks. */
  | { type: 'consent'; agent: string }
  /** The newest part of a run in the place of all that the page has of it; more: there are older events. Batches go on after next. */
  | { type: 'reset'; run: string; events: AgentEvent[]; more: boolean; next: number }
  /** The events before the oldest that the page has. */
  | { type: 'older'; run: string; events: AgentEvent[]; more: boolean }
  /** Those that come, at most one message in 16 ms. Nothing is missing between after and the first: the page follows anew from its last when it is not there yet. */
  | { type: 'events'; run: string; after: number; events: AgentEvent[] }
  | { type: 'changes'; run: string; changes: Changes }
  /** By call, what has become of its hunks. */
  | { type: 'hunks'; run: string; calls: Record<string, Hunks> }
  /** Base64 of a picture that the page has asked for; without it, why there is none. */
  | { type: 'image'; run: string; image: string; data?: string; why?: string }
  | { type: 'chips'; chips: Chip[] }
  | { type: 'completions'; id: number; items: Completion[] }
  /** The agent's own commands, without their slash. */
  | { type: 'commands'; run: string; commands: { name: string; description?: string }[] }
  /** A person has asked to be brought here, in this moment. */
  | { type: 'focus' }
  | { type: 'show'; run: string; seq: number }
  | { type: 'find' }
  /** Asks how wide the window is: the page of a bar is not told when that changes and it does not. */
  | { type: 'measure' }
  /** Text for the composer, behind what is there; or in its place, or before it. */
  | { type: 'draft'; text: string; replace?: boolean; before?: boolean }
  /** What became of something that the page asked for, in a sentence; it stands above the composer. */
  | { type: 'notice'; text: string; error?: boolean };

export interface View {
  health: 'starting' | 'running' | 'stopped' | 'failed';
  trusted: boolean;
  agents: Agent[];
  runs: RunInfo[];
  /** The name of the shown run's mode; empty without one. */
  mode: string;
  /** Whether edits wait for a review in that mode. */
  reviews: boolean;
  /** Of the run that is shown: what its agent calls its mode and model. */
  agentMode?: string; model?: string;
  /** Is the agent of the shown run, or the one to start, on its way? */
  starting?: Starting;
  settings: Settings;
  /** The workspace's folders, so that paths are shown without them. */
  folders?: string[];
  /** What vscode.l10n.bundle has: the page's words in another language. */
  words?: Record<string, string>;
}

export interface Starting {
  agent: string;
  /** When it began, in milliseconds since 1970. */
  since: number;
  step?: 'finding' | 'starting' | 'signIn';
  /** Why it is over, with the last lines of what the program wrote to stderr. */
  error?: { text: string; lines: string[] };
}

export interface Settings {
  enterSends: boolean;
  announce: 'paragraphs' | 'end' | 'questions';
  /** How much of a run is shown; the page asks for another with set. */
  detail: Detail;
}
export type Detail = 'replies' | 'steps' | 'everything';

/** The files that the run has changed: those still to be reviewed, or in a mode without reviews those written. */
export interface Changes { files: ChangedFile[]; written: boolean }
export interface ChangedFile {
  path: string; kind: 'create' | 'modify' | 'delete' | 'rename';
  added: number; removed: number;
  conflict?: boolean;
  /** New errors and warnings. */
  problems?: number;
}
export interface Hunks { pending: number; accepted: number; rejected: number; reason?: string }

/** What goes along with the next prompt; the extension keeps what is in it. */
export interface Chip { id: string; kind: 'file' | 'range' | 'image' | 'diagnostics' | 'text'; label: string; detail?: string; hidden?: boolean }
export interface Completion { id: string; label: string; detail?: string; kind: 'file' | 'folder' | 'symbol' | 'selection' | 'diagnostics' | 'changes' }

// ---- From the page to the extension

/** What the page keeps over a reload, by setState. */
export interface Saved {
  run?: string;
  draft?: string;
  /** The first row on the screen and how far it is above; none: at the end. */
  anchor?: { row: string; offset: number };
  /** What was opened and folded by hand, by row. */
  folds?: Record<string, boolean>;
}

type Check<T> = (value: unknown) => value is T;
const text = (most: number): Check<string> => (v): v is string => typeof v === 'string' && v.length <= most;
const id = text(1000), words = text(256 << 10), path = text(4096);
const whole: Check<number> = (v): v is number => Number.isSafeInteger(v) && (v as number) >= 0;
const yes: Check<boolean> = (v): v is boolean => typeof v === 'boolean';
const one = <T extends string>(...of: T[]): Check<T> => (v): v is T => (of as unknown[]).includes(v);
const list = <T>(of: Check<T>, most: number): Check<T[]> => (v): v is T[] => Array.isArray(v) && v.length <= most && v.every(of);
const maybe = <T>(of: Check<T>): Check<T | undefined> => (v): v is T | undefined => v === undefined || of(v);

/** All that a page may send, by type. What else is in a message is left out. */
const shapes = {
  /** The page stands; the view, a run and its events are to come. The run is the one it had before. */
  ready: { run: maybe(id) },
  /** Events after since, which is the page's last; without it the newest part, as a reset. */
  follow: { run: id, since: maybe(whole) },
  older: { run: id, before: whole },

  prompt: { run: id, text: words, when: one('queue', 'steer', 'interrupt'), chips: list(id, 100) },
  /** Of an item that waits: another text, none of it any more, or heard now. */
  edit: { run: id, item: id, text: words },
  withdraw: { run: id, item: id },
  hurry: { run: id, item: id, when: one('steer', 'interrupt') },
  /** The document that a question is about is opened. */
  shown: { run: id, question: id },
  /** The id of an option, or any text where there are none or besides them; typed is the word for what can't be undone. */
  answer: { run: id, question: id, answer: words, reason: maybe(words), typed: maybe(id) },
  /** A yes for good, once the server has shown what that would have done. */
  always: { run: id, question: id, scope: one('workspace', 'user') },
  /** retry has the last prompt heard again; retryNow has a rate limited agent try before its time. */
  control: { run: id, what: one('cancel', 'resume', 'close', 'retry', 'retryNow', 'continue') },
  stopAll: {},
  /** The command of a call, which the server runs, while its agent goes on. */
  stopCommand: { run: id, call: id },

  start: { agent: id },
  consent: { agent: id, yes },
  signIn: { agent: id, method: id },
  cancelStart: {},
  /** Quick picks of the extension. */
  pick: { what: one('run', 'sidecarMode', 'agentMode', 'model'), run: maybe(id) },
  /** To the event at, with the text of the prompt after it, which is sent no more; a fork without them is of the whole conversation. */
  rewind: { run: id, at: whole, text: maybe(words) },
  fork: { run: id, at: maybe(whole), text: maybe(words) },
  /** Of our own agent: another text for its latest summary, none to know again what was before it; the conversation is shortened; what a run may use. */
  summary: { run: id, summary: whole, text: words },
  compact: { run: id },
  budget: { run: id },
  newRun: { summaryOf: maybe(id) },
  set: { detail: one('replies', 'steps', 'everything') },

  /** A link of a message, as it is written there: the extension decides whether it may be opened. */
  link: { run: id, target: path },
  open: { run: id, path, line: maybe(whole) },
  /** A picture of the run's: its data for the page, or in an editor. */
  image: { run: id, image: id, large: yes },
  diff: { run: id, path },
  /** Of the files that the run has changed; without a path all of them. */
  changes: { run: id, what: one('review', 'accept', 'reject', 'diffs', 'verify', 'undo'), path: maybe(path) },
  /** In an editor: the conversation, the whole output of a call, or a text that the page has. */
  document: { run: id, what: one('conversation', 'output', 'text'), call: maybe(id), text: maybe(text(4 << 20)), language: maybe(text(40)), title: maybe(id) },
  copy: { text: text(4 << 20) },

  attach: { what: one('file', 'selection', 'diagnostics') },
  attachCompletion: { completion: id },
  attachUris: { uris: list(path, 50) },
  /** Data is base64. */
  attachImage: { name: id, mime: one('image/png', 'image/jpeg', 'image/gif', 'image/webp'), data: text(7 << 20) },
  detach: { chip: id },
  complete: { id: whole, query: id },

  /** The questions that are on the screen, for as long as nothing else is said. */
  seen: { questions: list(id, 300) },
  /** How wide the window and the page are, as was asked; whether the page has the focus, and whether a message is being typed. */
  size: { window: whole, own: whole, focused: maybe(yes), typing: maybe(yes) },
  do: { what: one('showLog', 'restart', 'trust', 'addAgent', 'howToInstall'), agent: maybe(id) },
};

type Is<C> = C extends Check<infer T> ? T : never;
type Fields<S> = { [K in keyof S as undefined extends Is<S[K]> ? never : K]: Is<S[K]> } & { [K in keyof S as undefined extends Is<S[K]> ? K : never]?: Is<S[K]> };
export type FromPage = { [K in keyof typeof shapes]: { type: K } & Fields<(typeof shapes)[K]> }[keyof typeof shapes];

/** The message if it is one, with what belongs to it alone; undefined for anything else. Whether its ids are those of the shown run is for the caller to look at. */
export function checkFromPage(value: unknown): FromPage | undefined {
  if (typeof value !== 'object' || value === null) {
    return undefined;
  }
  const message = value as Record<string, unknown>;
  const type = message.type;
  if (typeof type !== 'string' || !Object.hasOwn(shapes, type)) {
    return undefined;
  }
  const out: Record<string, unknown> = { type };
  for (const [name, check] of Object.entries(shapes[type as keyof typeof shapes] as Record<string, Check<unknown>>)) {
    const field = Object.hasOwn(message, name) ? message[name] : undefined;
    if (!check(field)) {
      return undefined;
    }
    if (field !== undefined) {
      out[name] = field;
    }
  }
  return out as FromPage;
}
