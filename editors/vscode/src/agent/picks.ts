// The lists in which an agent, a run or a mode is chosen.
import * as vscode from 'vscode';
import type { Agent, RunInfo } from './event';
import { visible } from './page/safe';
import { glyph, stateWord } from './words';
import type { Work } from './work';

const t = vscode.l10n.t;

/** An agent to start. One that can't be is shown with what is missing. */
export async function pickAgent(work: Work): Promise<Agent | undefined> {
  const agents = [...work.runs.agents].sort((a, b) => Number(b.available) - Number(a.available));
  const chosen = await vscode.window.showQuickPick(
    agents.map(a => ({ label: `${a.available ? '$(hubot)' : '$(circle-slash)'} ${a.title}`, description: a.version ?? '', detail: a.available ? undefined : a.why, agent: a })),
    { title: t('New run'), placeHolder: agents.length > 0 ? t('Which agent') : t('No agent is known'), matchOnDetail: true });
  if (chosen && !chosen.agent.available) {
    throw new Error(chosen.agent.why ?? t('{0} can\'t be started.', chosen.agent.title));
  }
  return chosen?.agent;
}

/** A run, the newest first; those that have ended are the history. */
export async function pickRun(runs: RunInfo[], title: string, shown: string | undefined): Promise<RunInfo | undefined> {
  const item = (r: RunInfo) => ({
    label: `${glyph(r)} ${visible(r.title)}`, description: [r.agent, stateWord(r, t), r.run === shown ? t('shown') : ''].filter(Boolean).join(' · '),
    detail: [new Date(r.openedAt).toLocaleString(), r.pending > 0 ? r.pending === 1 ? t('1 file with pending changes') : t('{0} files with pending changes', r.pending) : ''].filter(Boolean).join(' · '), run: r,
  });
  const open = runs.filter(r => r.state !== 'ended'), ended = runs.filter(r => r.state === 'ended');
  const items = [...open.map(item), ...ended.length > 0 ? [{ label: t('Ended'), kind: vscode.QuickPickItemKind.Separator } as ReturnType<typeof item> & vscode.QuickPickItem] : [], ...ended.map(item)];
  if (items.length === 0) {
    void vscode.window.showInformationMessage(t('There is no run yet.'));
    return undefined;
  }
  return (await vscode.window.showQuickPick(items, { title, placeHolder: t('Which run'), matchOnDescription: true }))?.run;
}

interface Skill { name: string; description: string; origin: string; kit?: boolean; missing?: string; warnings?: string[] }

/** A skill of a run's session. One that can't be used is shown with what is missing. */
export async function pickSkill(work: Work, session: string | undefined): Promise<string | undefined> {
  const { skills } = await work.ask<{ skills: Skill[] }>('sidecar.skills.list', session ? { session } : {});
  const chosen = await vscode.window.showQuickPick(
    [...skills].sort((a, b) => Number(!b.missing) - Number(!a.missing)).map(s => ({
      label: `${s.missing ? '$(circle-slash)' : s.kit ? '$(checklist)' : '$(mortar-board)'} ${visible(s.name)}`, description: visible(s.origin),
      detail: visible(s.missing ?? [s.description, ...s.warnings ?? []].join(' · ')), skill: s,
    })),
    { title: t('Use a skill'), placeHolder: t('Which skill'), matchOnDetail: true });
  if (chosen?.skill.missing) {
    throw new Error(t('The skill {0} can\'t be used: {1}', chosen.skill.name, chosen.skill.missing));
  }
  return chosen?.skill.name;
}

/** The SideCar mode of a run's session: what is asked, and where edits go. */
export async function pickMode(work: Work, session: string): Promise<void> {
  const { modes } = await work.ask<{ modes: { name: string; description: string }[] }>('sidecar.mode.list');
  const now = work.mode(session);
  const chosen = await vscode.window.showQuickPick(
    [...modes].sort((a, b) => Number(b.name === now) - Number(a.name === now)).map(m => ({ label: m.name, detail: m.description, description: m.name === now ? t('now') : '' })),
    { title: t('SideCar mode of this run'), placeHolder: t('What is asked, and where edits go') });
  if (chosen) {
    await work.ask('sidecar.mode.set', { session, mode: chosen.label });
    await work.refreshModes();
  }
}

/** One of the modes or models that an agent has of its own. */
export async function pickOwn(what: 'agentMode' | 'model', agent: Agent | undefined, now: string | undefined): Promise<string | undefined> {
  const choices = (what === 'model' ? agent?.models : agent?.modes) ?? [];
  if (choices.length === 0) {
    throw new Error(what === 'model' ? t('This agent offers no models to choose from.') : t('This agent has no modes of its own.'));
  }
  const items = choices.map(c => ({ label: visible(c.title), description: c.id === now ? t('now') : '', detail: c.description && visible(c.description), id: c.id }));
  return (await vscode.window.showQuickPick(items, { title: what === 'model' ? t('Model') : t('Agent mode'), placeHolder: agent?.title }))?.id;
}
