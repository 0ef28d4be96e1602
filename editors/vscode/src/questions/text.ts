// How a question is put in words. No VS Code in here.
import type { ApproveParams, Scope } from '../protocol';
import type { Translate } from '../words';

/** Whether a question should stop everything else until it is answered: what runs, what deletes, what can't be undone. */
export function grave(a: ApproveParams): boolean {
  return a.irrecoverable || a.effects.access === 'exec' || /^\+\+\+ \/dev\/null$/m.test(a.diff ?? '');
}

/** For how long a yes may hold; for whatever looks alike only where the server says what that is. */
export function scopes(a: ApproveParams): Scope[] {
  return a.irrecoverable || a.rememberable === false ? ['once'] : a.pattern ? ['once', 'session', 'pattern'] : ['once', 'session'];
}

/** Who asks: the agent, through those that it works for. */
export function asker(a: ApproveParams): string {
  const path = a.agentPath?.length ? a.agentPath : [a.session];
  return path.join(' › ');
}

/** The facts behind a question, one a line. */
export function facts(a: ApproveParams, t: Translate): string[] {
  const e = a.effects;
  return [
    e.command ? t('command: {0}', e.command) : '',
    e.writes?.length ? t('writes: {0}', e.writes.join(', ')) : '',
    e.hosts?.length ? t('connects to: {0}', e.hosts.join(', ')) : '',
    a.rule ? t('rule: {0}', a.rule) : '',
    scopes(a).includes('pattern') ? t('pattern: {0}', a.pattern ?? '') : '',
    t('agent: {0}', asker(a)),
  ].filter(Boolean);
}

/** What fits into a dialog: the detail, the facts, and so much of the diff. */
export function dialogText(a: ApproveParams, t: Translate, most = 24): string {
  const parts = [facts(a, t).join('\n')];
  if (a.diff) {
    parts.push(cut(a.diff, most, t));
  } else if (a.detail && a.detail !== a.effects.command) {
    parts.push(cut(a.detail, most, t));
  }
  return parts.join('\n\n');
}

function cut(text: string, most: number, t: Translate): string {
  const lines = text.trimEnd().split('\n');
  return lines.length <= most ? lines.join('\n') : [...lines.slice(0, most - 1), t('… {0} more lines', lines.length - most + 1)].join('\n');
}

/** All of it, as a document. */
export function documentText(a: ApproveParams, t: Translate): string {
  const fence = (lang: string, text: string) => `\`\`\`\`${lang}\n${text.trimEnd()}\n\`\`\`\`\n`;
  return [
    `# ${a.title}\n`,
    a.irrecoverable ? `**${t('This can\'t be undone.')}**\n` : '',
    facts(a, t).map(f => `- ${f}`).join('\n') + '\n',
    a.diff ? fence('diff', a.diff) : a.detail ? fence('', a.detail) : '',
    `## ${t('Arguments')}\n`,
    fence('json', JSON.stringify(a.arguments, null, 2)),
  ].filter(Boolean).join('\n');
}
