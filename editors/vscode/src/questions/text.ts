// How a question is put in words. No VS Code in here.
import type { ApproveParams } from '../protocol';

/** Whether a question should stop everything else until it is answered: what runs, what deletes, what can't be undone. */
export function grave(a: ApproveParams): boolean {
  return a.irrecoverable || a.effects.access === 'exec' || /^\+\+\+ \/dev\/null$/m.test(a.diff ?? '');
}

/** Who asks: the agent, through those that it works for. */
export function asker(a: ApproveParams): string {
  const path = a.agentPath?.length ? a.agentPath : [a.session];
  return path.join(' › ');
}

/** The facts behind a question, one a line. */
export function facts(a: ApproveParams): string[] {
  const e = a.effects;
  return [
    e.command ? `command: ${e.command}` : '',
    e.writes?.length ? `writes: ${e.writes.join(', ')}` : '',
    e.hosts?.length ? `connects to: ${e.hosts.join(', ')}` : '',
    a.rule ? `rule: ${a.rule}` : '',
    `agent: ${asker(a)}`,
  ].filter(Boolean);
}

/** What fits into a dialog: the detail, the facts, and so much of the diff. */
export function dialogText(a: ApproveParams, most = 24): string {
  const parts = [facts(a).join('\n')];
  if (a.diff) {
    parts.push(cut(a.diff, most));
  } else if (a.detail && a.detail !== a.effects.command) {
    parts.push(cut(a.detail, most));
  }
  return parts.join('\n\n');
}

function cut(text: string, most: number): string {
  const lines = text.trimEnd().split('\n');
  return lines.length <= most ? lines.join('\n') : [...lines.slice(0, most - 1), `… ${lines.length - most + 1} more lines`].join('\n');
}

/** All of it, as a document. */
export function documentText(a: ApproveParams): string {
  const fence = (lang: string, text: string) => `\`\`\`\`${lang}\n${text.trimEnd()}\n\`\`\`\`\n`;
  return [
    `# ${a.title}\n`,
    a.irrecoverable ? '**This can\'t be undone.**\n' : '',
    facts(a).map(f => `- ${f}`).join('\n') + '\n',
    a.diff ? fence('diff', a.diff) : a.detail ? fence('', a.detail) : '',
    '## Arguments\n',
    fence('json', JSON.stringify(a.arguments, null, 2)),
  ].filter(Boolean).join('\n');
}
