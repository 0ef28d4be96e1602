// The dialog that asks how much a run of our own agent may use.
import * as vscode from 'vscode';

const t = vscode.l10n.t;

type Bound = 'tokens' | 'calls' | 'steps' | 'seconds' | 'cost';
export type Budget = Partial<Record<Bound, number>>;

const bounds = (): { bound: Bound; label: string; detail: string }[] => [
  { bound: 'tokens', label: t('Tokens'), detail: t('of the model, sent and received') },
  { bound: 'calls', label: t('Calls'), detail: t('of tools') },
  { bound: 'steps', label: t('Steps'), detail: t('requests to the model') },
  { bound: 'seconds', label: t('Seconds'), detail: t('of work, without the time that you take') },
  { bound: 'cost', label: t('US Dollars'), detail: t('where the model’s price is known') },
];

/** The bounds that the person has named, of which there may be none; undefined when they went away. */
export async function askBudget(): Promise<Budget | undefined> {
  const budget: Budget = {};
  for (;;) {
    const rows = bounds().map(b => ({ ...b, description: budget[b.bound] === undefined ? t('no bound') : String(budget[b.bound]) }));
    const set = { label: t('$(check) Set This Budget'), detail: t('What was used counts; what is left out has no bound.'), bound: undefined };
    const chosen = await vscode.window.showQuickPick([set, ...rows], { title: t('What may the agent use, with its sub-agents?') });
    if (!chosen) {
      return undefined;
    }
    if (!chosen.bound) {
      return budget;
    }
    const whole = chosen.bound !== 'cost';
    const typed = await vscode.window.showInputBox({
      title: chosen.label, prompt: t('Leave it empty for no bound.'), value: String(budget[chosen.bound] ?? ''),
      validateInput: v => v.trim() === '' || Number(v) > 0 && (!whole || Number.isSafeInteger(Number(v))) ? undefined : whole ? t('A whole number above 0.') : t('A number above 0.'),
    });
    if (typed?.trim()) {
      budget[chosen.bound] = Number(typed);
    } else if (typed !== undefined) {
      delete budget[chosen.bound];
    }
  }
}
