// The view "MCP Servers": those whose tools the server offers to its agents.
import * as vscode from 'vscode';
import { ListView } from '../agents/lists';
import type { Server } from '../client';
import type { McpServer } from '../protocol';

const t = vscode.l10n.t;

export function mcpServers(server: Server): ListView<McpServer> {
  return new ListView('sidecar.mcp', server,
    async () => (await server.execute<{ servers: McpServer[] }>('sidecar.mcp.list')).servers,
    s => {
      const item = new vscode.TreeItem(s.name);
      item.id = s.shadowed ? `${s.name} ${s.origin}` : s.name; // two of one name
      item.description = [stateName(s.state), s.transport, s.tools === 1 ? t('1 tool') : t('{0} tools', s.tools), s.error].filter(Boolean).join(' · ');
      item.iconPath = icon(s.state);
      item.contextValue = s.shadowed ? 'mcpShadowed' : s.state === 'signIn' ? 'mcpSignIn' : s.hidden?.length ? 'mcpHidden' : s.trusted ? 'mcp' : 'mcpUntrusted';
      item.tooltip = [s.command, s.origin, s.error, ...(s.changed?.length ? [t('Held back until it is trusted again: {0}', s.changed.join(', '))] : []), ...s.warnings ?? []].filter(Boolean).join('\n');
      item.accessibilityInformation = { label: `${s.name}, ${item.description}` };
      return item;
    });
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

function icon(state: string): vscode.ThemeIcon {
  switch (state) {
    case 'connected': return new vscode.ThemeIcon('plug', new vscode.ThemeColor('testing.iconPassed'));
    case 'connecting': return new vscode.ThemeIcon('sync~spin');
    case 'failed': return new vscode.ThemeIcon('error', new vscode.ThemeColor('list.errorForeground'));
    case 'untrusted': return new vscode.ThemeIcon('shield', new vscode.ThemeColor('list.warningForeground'));
    case 'signIn': return new vscode.ThemeIcon('key', new vscode.ThemeColor('list.warningForeground'));
  }
  return new vscode.ThemeIcon('circle-slash');
}

export function registerMcpServers(server: Server, view: ListView<McpServer>): vscode.Disposable {
  const command = (id: string, run: (s: McpServer) => Promise<unknown>) => vscode.commands.registerCommand(id, async (s: McpServer) => {
    try {
      await run(s);
    } catch (e) {
      void vscode.window.showErrorMessage(e instanceof Error ? e.message : String(e));
    }
    view.refresh();
  });
  return vscode.Disposable.from(
    vscode.commands.registerCommand('sidecar.refreshMcp', () => view.refresh()),
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
