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

/** How commands begin that a rule can allow for good, if there is such a rule. */
export function forGood(a: ApproveParams): string | undefined {
  const words = a.irrecoverable || a.rememberable === false ? undefined : a.always?.prefix.join(' ');
  return words && !a.always?.packages && !a.always?.host ? `${words} …` : words;
}

/** Who asks: the agent, through those that it works for. */
export function asker(a: ApproveParams): string {
  const path = a.agentPath?.length ? a.agentPath : [a.session];
  return path.join(' › ');
}

/** Why it is asked, in the server's words. */
export const reason = (a: ApproveParams): string => {
  const [why = ''] = a.detail.split('\n\n'), body = a.diff ?? a.effects.command;
  return why === body || a.diff && why.startsWith('---') ? '' : why.charAt(0).toUpperCase() + why.slice(1);
};

/** The text of a message without a dialog: what would be done, why it is asked, and who asks where that is an agent. */
export function messageText(a: ApproveParams, t: Translate): string {
  const [why = ''] = reason(a).split('\n'), one = asker(a);
  return [a.title, why && (/[.!?:]$/.test(why) ? why : `${why}.`), one === 'default' ? '' : t('Asked by {0}.', one)].filter(Boolean).join(' ');
}

/** The facts behind a question, one a line; brief leaves out what its title or its buttons say. */
export function facts(a: ApproveParams, t: Translate, brief = false): string[] {
  const e = a.effects, titled = brief && e.command !== undefined && a.title.includes(e.command), one = asker(a);
  return [
    e.command && !titled ? t('command: {0}', e.command) : '',
    e.writes?.length && !(brief && e.writes.every(w => a.title.includes(w))) ? t('writes: {0}', e.writes.join(', ')) : '',
    e.hosts?.length ? t('connects to: {0}', e.hosts.join(', ')) : '',
    a.rule && !brief ? t('rule: {0}', a.rule) : '',
    scopes(a).includes('pattern') && !brief ? t('pattern: {0}', a.pattern ?? '') : '',
    brief && one === 'default' ? '' : t('agent: {0}', one),
  ].filter(Boolean);
}

/** What fits into a dialog: the detail, the facts, and so much of the diff. */
export function dialogText(a: ApproveParams, t: Translate, most = 24): string {
  const why = reason(a), [first, ...rest] = a.detail.split('\n\n'), titled = a.title.includes(a.effects.command ?? '\n');
  const body = a.diff ?? (why ? rest.join('\n\n') : first === a.effects.command && titled ? '' : a.detail);
  return [why, facts(a, t, true).join('\n'), body && body !== a.effects.command ? cut(body, most, t) : ''].filter(Boolean).join('\n\n');
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
