// Plugins: they extend the server, once the person trusts them.
import * as vscode from 'vscode';
import { List } from '../agents/lists';
import type { Server } from '../client';
import type { Row } from '../manage/rows';
import type { Plugin } from '../protocol';

const t = vscode.l10n.t;

export function plugins(server: Server): List<Plugin> {
  return new List(
    async () => (await server.execute<{ plugins: Plugin[] }>('sidecar.plugins.list')).plugins,
    p => ({
      id: p.id, label: p.name, ...sign(p),
      detail: [p.version, stateName(p)].filter(Boolean).join(' · '),
      more: [p.description, p.path, p.error, ...changed(p), ...p.commands ?? [], ...p.warnings ?? []].filter((line): line is string => !!line),
      actions: [p.state === 'disabled' ? { command: 'sidecar.pluginEnable', label: t('Switch On') }
        : p.trust === 'unknown' ? { command: 'sidecar.pluginTrust', label: t('Trust…') } : { command: 'sidecar.pluginDisable', label: t('Switch Off') }],
    }));
}

function stateName(p: Plugin): string {
  switch (p.state) {
    case 'enabled': return p.trust === 'mine' ? t('enabled, your own') : t('enabled');
    case 'disabled': return t('switched off');
    case 'faulted': return t('failed');
  }
  return p.changed?.length ? t('changed since you trusted it') : t('not trusted');
}

function sign(p: Plugin): Pick<Row, 'sign' | 'look'> {
  switch (p.state) {
    case 'enabled': return { sign: 'check', look: 'good' };
    case 'disabled': return { sign: 'circle' };
    case 'faulted': return { sign: 'cross', look: 'bad' };
  }
  return { sign: 'warning', look: 'needs' };
}

function changed(p: Plugin): string[] {
  return p.changed?.length ? [t('Since you trusted it: {0}', p.changed.join(', '))] : [];
}

export function registerPlugins(server: Server, list: List<Plugin>): vscode.Disposable {
  const command = (id: string, run: (p: Plugin) => Promise<unknown>) => list.command(id, t('Plugin'), run);
  return vscode.Disposable.from(
    vscode.commands.registerCommand('sidecar.refreshPlugins', () => list.refresh()),
    // What is trusted is what was shown: the hash stands for it. No comes first: Enter starts nothing.
    command('sidecar.pluginTrust', async p => {
      const no = t('Don\'t Trust'), yes = t('Trust'), mine = t('Trust as My Own Work');
      const detail = [p.path, ...changed(p), (p.commands ?? []).join('\n'), p.overrides?.length ? t('It takes the place of these built-in tools: {0}', p.overrides.join(', ')) : '',
        t('As your own work it is loaded again whenever it changes.')].filter(Boolean).join('\n\n');
      const answer = await vscode.window.showWarningMessage(t('Trust the plugin {0}?', p.name), { modal: true, detail }, no, yes, mine);
      if (answer === yes || answer === mine) {
        const now = await server.execute<Plugin>('sidecar.plugins.set', { id: p.id, hash: p.hash, trusted: true, mine: answer === mine, override: p.overrides ?? [] });
        if (now.error) void vscode.window.showWarningMessage(now.error);
      }
    }),
    command('sidecar.pluginDisable', p => server.execute('sidecar.plugins.set', { id: p.id, enabled: false })),
    command('sidecar.pluginEnable', p => server.execute('sidecar.plugins.set', { id: p.id, enabled: true })));
}
