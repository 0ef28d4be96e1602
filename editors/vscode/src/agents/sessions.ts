import * as vscode from 'vscode';
import type { Server } from '../client';
import type { SessionInfo } from '../protocol';
import { ListView } from './lists';

const t = vscode.l10n.t;

export function sessions(server: Server, title: (session: string) => string | undefined): ListView<SessionInfo> {
  return new ListView('sidecar.sessions', server,
    async () => (await server.execute<{ sessions: SessionInfo[] }>('sidecar.session.list')).sessions,
    s => {
      const item = new vscode.TreeItem(title(s.session) ?? s.session);
      item.id = s.session;
      item.description = [s.mode, s.calls === 1 ? t('1 call') : t('{0} calls', s.calls), s.tokens > 0 ? t('{0} tokens', s.tokens) : '', s.shadow ? t('shadow {0}', s.shadow) : ''].filter(Boolean).join(' · ');
      item.iconPath = new vscode.ThemeIcon(s.shadow ? 'repo-forked' : 'account');
      item.contextValue = s.session === 'default' ? 'default' : 'session';
      item.tooltip = `${s.session}\n${s.root}\n${s.openedAt}`;
      item.accessibilityInformation = { label: `${String(item.label)}, ${item.description}` };
      return item;
    });
}

export function registerSessions(server: Server, view: ListView<SessionInfo>): vscode.Disposable {
  return vscode.commands.registerCommand('sidecar.closeSession', async (s: SessionInfo) => {
    await server.execute('sidecar.session.close', { session: s.session });
    view.refresh();
  });
}
