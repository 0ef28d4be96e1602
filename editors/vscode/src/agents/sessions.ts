import * as vscode from 'vscode';
import type { Server } from '../client';
import type { SessionInfo, SessionPort } from '../protocol';
import { List } from './lists';

const t = vscode.l10n.t;

export function sessions(server: Server, title: (session: string) => string | undefined): List<SessionInfo> {
  return new List(
    async () => (await server.execute<{ sessions: SessionInfo[] }>('sidecar.session.list')).sessions,
    s => {
      const name = title(s.session);
      return {
        id: s.session, label: name ?? s.session, sign: s.shadow ? 'folder' : 'agent',
        detail: [s.mode, s.calls === 1 ? t('1 call') : t('{0} calls', s.calls), s.tokens > 0 ? t('{0} tokens', s.tokens) : '', s.shadow ? t('shadow {0}', s.shadow) : ''].filter(Boolean).join(' · '),
        more: [name === undefined ? '' : s.session, s.root, t('since {0}', new Date(s.openedAt).toLocaleString())].filter(Boolean),
        actions: [
          { command: 'sidecar.openPort', label: t('Open port…') },
          ...(s.session === 'default' ? [] : [{ command: 'sidecar.closeSession', label: t('Close') }]),
        ],
      };
    });
}

export function registerSessions(server: Server, list: List<SessionInfo>): vscode.Disposable {
  return vscode.Disposable.from(
    list.command('sidecar.closeSession', t('Close session'), s => server.execute('sidecar.session.close', { session: s.session })),
    list.command('sidecar.openPort', t('Open port of an agent'), s => openPort(server, s.session)),
  );
}

/** Shows a page that a program of a session serves; the server asks first. */
async function openPort(server: Server, session: string): Promise<void> {
  const { ports } = await server.execute<{ ports: SessionPort[] }>('sidecar.session.ports', { session });
  if (ports.length === 0) {
    void vscode.window.showInformationMessage(t('No program of this session listens on a port of its own localhost.'));
    return;
  }
  const items = ports.map(p => ({ label: String(p.port), description: p.program, detail: p.opened, p }));
  const chosen = await vscode.window.showQuickPick(items, { title: t('Open port of an agent') });
  if (!chosen) { return; }
  const url = chosen.p.opened ?? (await server.execute<{ url: string }>('sidecar.session.openPort', { session, port: chosen.p.port })).url;
  await vscode.env.openExternal(vscode.Uri.parse(url, true));
}
