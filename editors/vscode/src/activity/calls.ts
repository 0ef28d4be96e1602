// What agents are doing, made from events. No VS Code in here.
import type { CallEvent, ChangeRef } from '../protocol';
import type { Translate } from '../words';

export interface Call {
  id: string; session: string; tool: string; started: string;
  state: 'running' | 'asking' | 'ok' | 'failed' | 'denied';
  arguments?: unknown;
  decision?: Pick<CallEvent, 'outcome' | 'by' | 'rule' | 'reason'>;
  output: string;
  code?: string; message?: string;
  durationMs?: number; bytes?: number;
  changes: ChangeRef[];
}

/** How many calls are kept, and how much of each one's output, in characters. */
const most = { calls: 200, output: 64_000 };

/** The calls of the page of diagrams, by their tool and what their ids begin with: they are nobody's activity. */
export const ownCalls = { tool: 'display_diagram', prefix: 'panel-' } as const;

/** What the server does to take over what a program has written: it has no arguments, and says something where there are files. */
const takesOver = 'run';

/** The calls, newest first. */
export class Calls {
  readonly list: Call[] = [];

  take(e: CallEvent): Call | undefined {
    if (e.tool === ownCalls.tool && e.callId.startsWith(ownCalls.prefix)) {
      return undefined; // of no other tool, or an agent could choose not to be seen
    }
    if (e.type === 'toolStarted') {
      this.list.unshift({ id: e.callId, session: e.session, tool: e.tool, started: e.time, state: 'running', arguments: e.arguments, output: '', changes: [] });
      this.list.length = Math.min(this.list.length, most.calls);
      return this.list[0];
    }
    const call = this.find(e.session, e.callId);
    if (!call) {
      return undefined;
    }
    switch (e.type) {
      case 'permissionRequested':
        call.state = e.outcome === 'ask' ? 'asking' : 'running';
        break;
      case 'permissionResolved':
        call.state = 'running';
        call.decision = { outcome: e.outcome, by: e.by, rule: e.rule, reason: e.reason };
        break;
      case 'toolOutput':
        call.output = (call.output + (e.chunk ?? '')).slice(-most.output);
        break;
      case 'toolCompleted':
        call.state = e.ok ? 'ok' : e.code === 'denied' || e.code === 'not_approved' ? 'denied' : 'failed';
        Object.assign(call, { code: e.code, message: e.message, durationMs: e.durationMs, bytes: e.bytes, changes: e.changes ?? [] });
        if (e.tool === takesOver && e.ok && call.changes.length === 0) {
          this.list.splice(this.list.indexOf(call), 1); // it looked, and there was nothing
        }
    }
    return call;
  }

  find(session: string, id: string): Call | undefined { return this.list.find(c => c.id === id && c.session === session); }

  clear(): void { this.list.splice(0, this.list.length, ...this.list.filter(c => c.state === 'running' || c.state === 'asking')); }
}

/** The arguments in a line: the value that says most. */
export function summary(args: unknown): string {
  if (typeof args !== 'object' || args === null) {
    return '';
  }
  const values = args as Record<string, unknown>;
  const key = ['path', 'command', 'pattern', 'query', 'symbol', 'url', 'from', 'question', 'name'].find(k => typeof values[k] === 'string') ?? Object.keys(values).find(k => typeof values[k] === 'string' && k !== 'patch' && k !== 'content');
  const text = key ? String(values[key]).replace(/\s+/g, ' ') : '';
  return text.length > 60 ? text.slice(0, 59) + '…' : text;
}

/** What a call is about, in a line. */
export function about(call: Pick<Call, 'arguments' | 'changes'>, t: Translate): string {
  const [first, ...more] = call.changes.map(c => c.path);
  return summary(call.arguments) || (first === undefined ? '' : more.length > 0 ? t('{0} and {1} more', first, more.length) : first);
}

/** What the server calls by itself, and what tells a person nothing. */
const internal = new Set(['know_how']);

/** Whether a call is listed for people. */
export const listed = (call: Pick<Call, 'tool'>): boolean => !internal.has(call.tool);

const changes: Record<ChangeRef['kind'], (t: Translate, what: string) => string> = {
  create: (t, what) => t('created {0}', what), modify: (t, what) => t('changed {0}', what), delete: (t, what) => t('deleted {0}', what), rename: (t, what) => t('moved {0}', what),
};
const done: Record<string, (t: Translate, what: string) => string> = {
  read_file: (t, what) => t('read {0}', what), list_directory: (t, what) => t('listed {0}', what),
  grep: (t, what) => t('searched for {0}', what), search_files: (t, what) => t('searched for files {0}', what), project_knowledge_search: (t, what) => t('searched the project for {0}', what),
  run_command: (t, what) => t('ran {0}', what), run_tests: (t, what) => t('tested {0}', what || t('the project')), run_lint: (t, what) => t('checked {0}', what || t('the project')), code_exec: t => t('ran a program'),
  edit_file: (t, what) => t('edits {0}', what), write_file: (t, what) => t('writes {0}', what), append_file: (t, what) => t('writes {0}', what), delete_file: (t, what) => t('deletes {0}', what), move_file: (t, what) => t('moves {0}', what),
  ask_user: (t, what) => t('asked: {0}', what), web_fetch: (t, what) => t('fetched {0}', what), web_search: (t, what) => t('searched the web for {0}', what), skill: (t, what) => t('used the skill {0}', what),
};

/** What a call has done, in people's words, after the name of who did it where that is known. */
export function deed(call: Pick<Call, 'tool' | 'arguments' | 'changes'>, t: Translate, who?: string): string {
  const [first] = call.changes, what = about(call, t), own = Object.hasOwn(done, call.tool) ? done[call.tool] : undefined;
  const text = first ? changes[first.kind](t, call.changes.length > 1 ? t('{0} and {1} more', first.path, call.changes.length - 1) : first.path)
    : own ? own(t, what).trim() : [call.tool.replaceAll('_', ' '), what].filter(Boolean).join(': ');
  return who ? `${who} ${text}` : text.charAt(0).toUpperCase() + text.slice(1);
}

/** How long it took, where that is worth a word. */
export const took = (ms: number | undefined, t: Translate): string => (ms === undefined || ms < 1000 ? '' : t('{0} s', (ms / 1000).toFixed(ms < 10_000 ? 1 : 0)));

/** Where a call is, in a word. */
export function stateName(state: Call['state'], t: Translate): string {
  switch (state) {
    case 'running': return t('running');
    case 'asking': return t('asks');
    case 'ok': return t('ok');
    case 'failed': return t('failed');
    case 'denied': return t('denied');
  }
}

/** How it was decided about a call, by whom and why; nothing while it is not. */
export function decisionText({ decision: d }: Call, t: Translate): string {
  return d ? [d.by ? t('{0} by {1}', d.outcome ?? '', d.by) : d.outcome, d.rule && `(${d.rule})`, d.reason].filter(Boolean).join(' ') : '';
}

/** All that is known of a call, as a document. */
export function callText(c: Call, t: Translate): string {
  const fence = (lang: string, text: string) => `\`\`\`\`${lang}\n${text.replace(/\n$/, '')}\n\`\`\`\`\n`;
  return [
    `# ${c.tool}: ${c.state === 'failed' && c.code ? c.code : stateName(c.state, t)}\n`,
    [`- ${t('session {0}, started {1}', c.session, c.started)}`, c.durationMs === undefined ? '' : `- ${t('{0} ms', c.durationMs)}`, c.decision ? `- ${decisionText(c, t)}` : '', ...c.changes.map(f => `- ${f.path}: ${f.kind}, ${f.state}`)].filter(Boolean).join('\n') + '\n',
    c.message ? `${c.message}\n` : '',
    `## ${t('Arguments')}\n`, fence('json', JSON.stringify(c.arguments ?? {}, null, 2)),
    ...(c.output ? [`## ${t('Output')}\n`, fence('text', c.output)] : []),
  ].filter(Boolean).join('\n');
}
