import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Server } from '../client';
import type { ShadowDiff, ShadowInfo, ShadowMerge, ShadowSetup } from '../protocol';
import type { Runner } from '../tools/run';
import { List } from './lists';

const t = vscode.l10n.t;

const changed = (s: ShadowInfo) => (s.changed === 1 ? t('1 file changed') : t('{0} files changed', s.changed));

/** The words for a setup in a row; none for one that is done. */
function setupIs(s?: ShadowSetup): string {
  switch (s?.state) {
    case 'running': return t('setup is running');
    case 'failed': return t('setup failed');
    case 'needed': return t('setup is needed');
    case 'interrupted': return t('setup was interrupted');
    default: return '';
  }
}

/** Why a setup is not done, and what helps. */
const setupMore = (s?: ShadowSetup) => (setupIs(s) ? [s?.command, s?.why, s?.output, s?.next] : [s?.why]).filter(x => x !== undefined && x !== '') as string[];

/** Offers to take over the setup that the project has for another program. */
async function offer(server: Server, s?: ShadowSetup): Promise<void> {
  if (s?.state !== 'offered') {
    return;
  }
  const names = s.offers ?? [];
  const from = await vscode.window.showInformationMessage(t('This project has a setup of another program for new working trees. It was not run.'), { detail: s.why }, ...names.map(name => t('Show That of {0}…', name)));
  const name = names.find(n => t('Show That of {0}…', n) === from);
  if (name) {
    await server.execute('sidecar.shadow.takeSetup', { from: name });
  }
}

/** Whether a shadow workspace can be made here: it is a working tree of a repository. */
export function canShadow(): boolean {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  for (let dir = folder?.uri.fsPath ?? '', up = ''; dir && dir !== up; up = dir, dir = path.dirname(dir)) {
    if (fs.existsSync(path.join(dir, '.git'))) {
      return vscode.workspace.isTrusted;
    }
  }
  return false;
}

export function shadows(server: Server): List<ShadowInfo> {
  return new List(
    async () => (await server.execute<{ shadows: ShadowInfo[] }>('sidecar.shadow.list')).shadows,
    s => ({
      id: s.id, label: s.id, sign: 'folder', open: 'sidecar.shadowDiff',
      detail: [changed(s), t('from {0}', s.base.slice(0, 8)), setupIs(s.setup)].filter(Boolean).join(' · '),
      more: [s.path, t('since {0}', new Date(s.createdAt).toLocaleString()), ...setupMore(s.setup)],
      actions: [
        { command: 'sidecar.shadowDiff', label: t('Show Diff') }, { command: 'sidecar.shadowMerge', label: t('Merge into Review') },
        { command: 'sidecar.shadowOpen', label: t('Open in New Window') }, ...(s.setup ? [{ command: 'sidecar.shadowSetup', label: t('Set Up Again') }] : []), { command: 'sidecar.shadowDiscard', label: t('Discard…') },
      ],
    }));
}

export function registerShadows(server: Server, list: List<ShadowInfo>, runner: Runner): vscode.Disposable {
  const command = (id: string, run: (s: ShadowInfo) => Promise<unknown>) => list.command(id, t('Shadow workspace'), run);
  return vscode.Disposable.from(
    vscode.commands.registerCommand('sidecar.createShadow', async () => {
      const id = await vscode.window.showInputBox({ title: t('New shadow workspace'), prompt: t('A name; empty for one of its own'), ignoreFocusOut: true });
      if (id === undefined) {
        return;
      }
      const dirty = t('Last commit and uncommitted changes');
      const from = await vscode.window.showQuickPick([t('Last commit'), dirty], { title: t('What it begins with') });
      if (from) {
        try {
          const made = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: t('Creating a shadow workspace') },
            () => server.execute<{ setup?: ShadowSetup }>('sidecar.shadow.create', { ...(id ? { id } : {}), includeUncommitted: from === dirty }));
          list.refresh();
          await offer(server, made.setup);
        } catch (e) {
          void vscode.window.showErrorMessage(e instanceof Error ? e.message : String(e));
        }
        list.refresh();
      }
    }),
    command('sidecar.shadowDiff', async s => {
      const d = await server.execute<ShadowDiff>('sidecar.shadow.diff', { id: s.id });
      await runner.show(`${s.id}.diff`, d.diff || t('Nothing has changed in it.'));
    }),
    command('sidecar.shadowMerge', async s => {
      const m = await server.execute<ShadowMerge>('sidecar.shadow.merge', { id: s.id });
      const conflicts = m.conflicts ?? [];
      const n = m.merged?.length ?? 0;
      const text = n === 1 ? t('1 file of {0} waits for review.', s.id) : t('{0} files of {1} wait for review.', n, s.id);
      if (conflicts.length > 0) {
        void vscode.window.showWarningMessage(`${text} ${t('In conflict: {0}', conflicts.map(c => c.path).join(', '))}`);
      } else {
        void vscode.window.showInformationMessage(text);
      }
    }),
    command('sidecar.shadowOpen', async s => vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(s.path), { forceNewWindow: true })),
    command('sidecar.shadowSetup', async s => vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: t('Setting up {0}', s.id) },
      () => server.execute('sidecar.shadow.setup', { id: s.id }))),
    command('sidecar.shadowDiscard', async s => {
      const yes = t('Discard');
      const chosen = await vscode.window.showWarningMessage(t('Discard the shadow workspace {0}?', s.id), { modal: true, detail: t('{0}: what was not merged is lost.', changed(s)) }, yes);
      if (chosen === yes) {
        await server.execute('sidecar.shadow.discard', { id: s.id });
      }
    }));
}
