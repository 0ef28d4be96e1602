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
