// A conversation as a Markdown document, to read, search and save. No VS Code in here.
import type { Translate } from '../words';
import type { AgentEvent, Call, RunInfo } from './event';

/** Everything that was said and done, in its order. */
export function conversation(info: RunInfo | undefined, events: AgentEvent[], t: Translate): string {
  const out: string[] = [`# ${line(info?.title || t('Conversation'))}\n`];
  const start = events.find(e => e.kind === 'run.start');
  const agent = info?.agent ?? start?.agent ?? t('Agent');
  out.push(`${agent}${start ? ` · ${new Date(start.time).toLocaleString()}` : ''}\n`);
  const outputs = outputsOf(events), titles = new Map<string, Call>();
  const partial = new Map<string, string>(); // parts of messages that are not over
  for (const e of events) {
    if (e.call) {
      titles.set(e.call.call, { ...titles.get(e.call.call), ...defined(e.call) });
    }
    switch (e.kind) {
      case 'text': case 'thought': {
        const key = `${e.kind} ${e.message}`;
        if (e.delta !== undefined) {
          partial.set(key, (partial.get(key) ?? '') + e.delta);
          break;
        }
        partial.delete(key);
        out.push(message(e, e.text ?? '', agent, t));
        break;
      }
      case 'call.finished': {
        const call = titles.get(e.call?.call ?? '') ?? e.call;
        if (call) {
          out.push(callText(call, outputs.get(call.call) ?? '', t));
        }
        break;
      }
      case 'steer': out.push(`> **${t('Steered')}**: ${quote(e.text ?? '')}\n`); break;
      case 'note': case 'compaction':
        if (e.text) {
          out.push(`> ${quote(e.text)}\n`);
        }
        break;
      case 'plan': out.push((e.plan ?? []).map(p => `- [${p.status === 'completed' ? 'x' : ' '}] ${line(p.text)}`).join('\n') + '\n'); break;
      case 'question': out.push(`> **${t('Question')}**: ${quote(e.text ?? '')}\n`); break;
      case 'answered': {
        const asked = events.find(q => q.kind === 'question' && q.question === e.question);
        out.push(`> **${t('Answer')}**: ${quote(asked?.options?.find(o => o.id === e.answer)?.label ?? e.answer ?? e.reason ?? '')}\n`);
        break;
      }
      case 'run.end':
        if (e.reason !== 'done') {
          out.push(`> **${t('Ended')}**: ${quote([e.reason, e.text].filter(Boolean).join(': '))}\n`);
        }
    }
  }
  for (const [key, text] of partial) {
    const [kind = ''] = key.split(' ');
    out.push(message({ kind: kind as AgentEvent['kind'], role: 'assistant' }, text, agent, t));
  }
  return out.join('\n');
}

/** What a call has put out, as far as it is there. */
export function output(events: AgentEvent[], call: string): string { return outputsOf(events).get(call) ?? ''; }

function outputsOf(events: AgentEvent[]): Map<string, string> {
  const all = new Map<string, string>();
  for (const e of events) {
    if (e.kind === 'call.output' && e.call) {
      if (e.text !== undefined) {
        all.set(e.call.call, e.text);
      } else if (e.delta !== undefined) {
        all.set(e.call.call, (all.get(e.call.call) ?? '') + e.delta);
      }
    }
  }
  return all;
}

function message(e: Pick<AgentEvent, 'kind' | 'role' | 'time'> | { kind: AgentEvent['kind']; role: string }, text: string, agent: string, t: Translate): string {
  const at = 'time' in e ? ` · ${new Date(e.time).toLocaleTimeString()}` : '';
  if (e.role === 'user') {
    return `## ${t('You')}${at}\n\n${text.trimEnd()}\n`;
  }
  return e.kind === 'thought' ? `<details><summary>${t('Thought')}</summary>\n\n${text.trimEnd()}\n\n</details>\n` : `### ${agent}${at}\n\n${text.trimEnd()}\n`;
}

function callText(call: Call, text: string, t: Translate): string {
  const failed = call.outcome === 'failed' ? ` (${t('failed')})` : '';
  const parts = [`- **${line(call.title || call.kind || t('Call'))}**${failed}`];
  for (const d of call.diff ?? []) {
    parts.push(fence('diff', [`--- ${d.path}`, `+++ ${d.path}`, ...sides(d.old, d.new)].join('\n')));
  }
  if (text) {
    parts.push(fence('', text));
  }
  return parts.join('\n\n') + '\n';
}

// The lines that both sides begin and end with are left out.
function sides(old: string | undefined, fresh: string): string[] {
  const a = old === undefined ? [] : old.split('\n'), b = fresh.split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) { start++; }
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) { end++; }
  return [...a.slice(start, a.length - end).map(l => `-${l}`), ...b.slice(start, b.length - end).map(l => `+${l}`)];
}

/** A block that nothing in the text can end. */
function fence(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(m => m[0].length));
  const marks = '`'.repeat(longest + 1);
  return `${marks}${language}\n${text.trimEnd()}\n${marks}`;
}

const line = (text: string) => text.replace(/\s+/g, ' ').trim();
const quote = (text: string) => text.trim().replaceAll('\n', '\n> ');
const defined = (call: Call) => Object.fromEntries(Object.entries(call).filter(([, v]) => v !== undefined)) as unknown as Call;
