// MCP servers: those whose tools the server offers to its agents.
import * as vscode from 'vscode';
import { List } from '../agents/lists';
import type { Server } from '../client';
import type { Action, Row } from '../manage/rows';
import type { McpServer } from '../protocol';

const t = vscode.l10n.t;

export function mcpServers(server: Server): List<McpServer> {
  return new List(
    async () => (await server.execute<{ servers: McpServer[] }>('sidecar.mcp.list')).servers,
    s => ({
      id: s.shadowed ? `${s.name} ${s.origin}` : s.name, // two of one name
      label: s.name, ...sign(s.state),
      detail: [stateName(s.state), s.transport, s.tools === 1 ? t('1 tool') : t('{0} tools', s.tools), s.shadowed ? t('another of this name is used') : ''].filter(Boolean).join(' · '),
      more: [s.command, s.origin, s.error, ...(s.changed?.length ? [t('Held back until it is trusted again: {0}', s.changed.join(', '))] : []), ...s.warnings ?? []].filter((line): line is string => !!line),
      actions: actions(s),
    }));
}

// Nothing is done with one in whose place another stands: both have the name by which the server knows them.
function actions(s: McpServer): Action[] {
  if (s.shadowed) {
    return [];
  }
  const own = s.state === 'signIn' ? { command: 'sidecar.mcpSignIn', label: t('Sign In…') }
    : s.hidden?.length ? { command: 'sidecar.mcpShow', label: t('Give Access to Hidden Directories…') }
      : s.trusted ? undefined : { command: 'sidecar.mcpTrust', label: t('Trust…') };
  return [...(own ? [own] : []), ...(s.trusted ? [{ command: 'sidecar.mcpReconnect', label: t('Reconnect') }] : [])];
}

function stateName(state: string): string {
  switch (state) {
    case 'connected': return t('connected');
    case 'connecting': return t('connecting');
    case 'failed': return t('failed');
    case 'untrusted': return t('not trusted');
    case 'signIn': return t('wants you to sign in');
    case 'disabled': return t('switched off');
  }
  return state;
}

function sign(state: string): Pick<Row, 'sign' | 'look'> {
  switch (state) {
    case 'connected': return { sign: 'plug', look: 'good' };
    case 'connecting': return { sign: 'spinner' };
    case 'failed': return { sign: 'cross', look: 'bad' };
    case 'untrusted': return { sign: 'warning', look: 'needs' };
    case 'signIn': return { sign: 'key', look: 'needs' };
  }
  return { sign: 'circle' };
}

export function registerMcpServers(server: Server, list: List<McpServer>): vscode.Disposable {
  const command = (id: string, run: (s: McpServer) => Promise<unknown>) => list.command(id, t('MCP server'), run);
  return vscode.Disposable.from(
    vscode.commands.registerCommand('sidecar.refreshMcp', () => list.refresh()),
    vscode.commands.registerCommand('sidecar.mcpSettings', () => vscode.commands.executeCommand('workbench.action.openSettings', 'sidecar.mcp.servers')),
    command('sidecar.mcpReconnect', s => server.execute('sidecar.mcp.reconnect', { server: s.name })),
    // What is trusted is what was shown: the hash stands for it.
    command('sidecar.mcpTrust', async s => {
      // No comes first, as with questions: Enter starts nothing.
      const no = t('Don\'t Trust'), yes = t('Trust');
      const detail = [s.command, t('Named by {0}.', s.origin), s.changed?.length ? t('These of its tools have changed: {0}', s.changed.join(', ')) : ''].filter(Boolean).join('\n\n');
      if (await vscode.window.showWarningMessage(t('Trust the MCP server {0}?', s.name), { modal: true, detail }, no, yes) === yes) {
        await server.execute('sidecar.mcp.trust', { server: s.name, hash: s.hash });
      }
    }),
    // The server has the page opened, and answers when the person is back.
    command('sidecar.mcpSignIn', async s => {
      await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, cancellable: true, title: t('Signing in to {0}…', s.name) }, async (_, cancelled) => {
        const { url } = await server.execute<{ url?: string }>('sidecar.mcp.signIn', { server: s.name }, cancelled);
        if (url) await vscode.env.openExternal(vscode.Uri.parse(url, true));
      });
    }),
    // What is shown is what the question named, to all commands: the sandbox is one.
    command('sidecar.mcpShow', async s => {
      const no = t('Keep Hidden'), yes = t('Show');
      const detail = [(s.hidden ?? []).join('\n'), t('Commands and all MCP servers will be able to read it. It is added to sidecar.sandbox.readOnly in your settings file.')].join('\n\n');
      if (await vscode.window.showWarningMessage(t('Show the MCP server {0} what the sandbox hides from it?', s.name), { modal: true, detail }, no, yes) === yes) {
        await server.execute('sidecar.mcp.show', { server: s.name, dirs: s.hidden });
      }
    }));
}
