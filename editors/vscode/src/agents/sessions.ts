import * as vscode from 'vscode';
import type { Server } from '../client';
import type { SessionInfo, SessionPort } from '../protocol';
import { List } from './lists';
import { openPort } from './ports';

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
    list.command('sidecar.openPort', t('Open port of an agent'), async s => openPort(server, (await server.execute<{ ports: SessionPort[] }>('sidecar.session.ports', { session: s.session })).ports)),
  );
}
