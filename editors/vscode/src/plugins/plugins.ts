// The view "Plugins": what extends the server, and what the person says of it.
import * as vscode from 'vscode';
import { ListView } from '../agents/lists';
import type { Server } from '../client';
import type { Plugin } from '../protocol';

const t = vscode.l10n.t;

export function plugins(server: Server): ListView<Plugin> {
  return new ListView('sidecar.plugins', server,
    async () => (await server.execute<{ plugins: Plugin[] }>('sidecar.plugins.list')).plugins,
    p => {
      const item = new vscode.TreeItem(p.name);
      item.id = p.id;
      item.description = [p.version, stateName(p), p.error].filter(Boolean).join(' · ');
      item.iconPath = icon(p);
      item.contextValue = p.state === 'disabled' ? 'pluginOff' : p.trust === 'unknown' ? 'pluginUnknown' : 'plugin';
      item.tooltip = [p.description, p.path, p.error, ...changed(p), ...p.commands ?? [], ...p.warnings ?? []].filter(Boolean).join('\n');
      item.accessibilityInformation = { label: `${p.name}, ${item.description}` };
      return item;
    });
}

function stateName(p: Plugin): string {
  switch (p.state) {
    case 'enabled': return p.trust === 'mine' ? t('enabled, your own') : t('enabled');
    case 'disabled': return t('switched off');
    case 'faulted': return t('failed');
  }
  return p.changed?.length ? t('changed since you trusted it') : t('not trusted');
}

function icon(p: Plugin): vscode.ThemeIcon {
  switch (p.state) {
    case 'enabled': return new vscode.ThemeIcon('extensions', new vscode.ThemeColor('testing.iconPassed'));
    case 'disabled': return new vscode.ThemeIcon('circle-slash');
    case 'faulted': return new vscode.ThemeIcon('error', new vscode.ThemeColor('list.errorForeground'));
  }
  return new vscode.ThemeIcon('shield', new vscode.ThemeColor('list.warningForeground'));
}

function changed(p: Plugin): string[] {
  return p.changed?.length ? [t('Since you trusted it: {0}', p.changed.join(', '))] : [];
}

export function registerPlugins(server: Server, view: ListView<Plugin>): vscode.Disposable {
  const command = (id: string, run: (p: Plugin) => Promise<unknown>) => vscode.commands.registerCommand(id, async (p: Plugin) => {
    try {
      await run(p);
    } catch (e) {
      void vscode.window.showErrorMessage(e instanceof Error ? e.message : String(e));
    }
    view.refresh();
  });
  return vscode.Disposable.from(
    vscode.commands.registerCommand('sidecar.refreshPlugins', () => view.refresh()),
    // What is trusted is what was shown: the hash stands for it. No comes first: Enter starts nothing.
    command('sidecar.pluginTrust', async p => {
      const no = t('Don\'t Trust'), yes = t('Trust'), mine = t('Trust as My Own Work');
      const detail = [p.path, ...changed(p), (p.commands ?? []).join('\n'), p.overrides?.length ? t('It takes the place of these built-in tools: {0}', p.overrides.join(', ')) : '',
        t('As your own work it is loaded again whenever it changes.')].filter(Boolean).join('\n\n');
      const answer = await vscode.window.showWarningMessage(t('Trust the plugin {0}?', p.name), { modal: true, detail }, no, yes, mine);
      if (answer === yes || answer === mine) {
        const now = await server.execute<Plugin>('sidecar.plugins.trust', { id: p.id, hash: p.hash, mine: answer === mine, override: p.overrides ?? [] });
        if (now.error) void vscode.window.showWarningMessage(now.error);
      }
    }),
    command('sidecar.pluginDisable', p => server.execute('sidecar.plugins.disable', { id: p.id })),
    command('sidecar.pluginEnable', p => server.execute('sidecar.plugins.enable', { id: p.id })));
}
