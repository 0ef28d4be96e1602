// The settings that the server is told.
import * as vscode from 'vscode';

/** Keys below `sidecar.` that are this extension's own. */
const own = ['server.path', 'trace.server', 'agent.notify', 'agent.enterSends', 'agent.announce', 'agent.detail'];

/**
 * What is set, and only that: VS Code would also give every default, and those would cover what the user's own settings
 * file says. Trust is VS Code's, and is in it always.
 */
export function settings(extension: vscode.Extension<unknown>): Record<string, unknown> {
  const config = vscode.workspace.getConfiguration('sidecar');
  const out: Record<string, unknown> = {};
  for (const key of serverKeys(extension)) {
    const at = config.inspect(key);
    if (at && [at.globalValue, at.workspaceValue, at.workspaceFolderValue].some(v => v !== undefined)) {
      out[key] = config.get(key);
    }
  }
  out['workspace.trust'] = vscode.workspace.isTrusted ? 'trusted' : 'untrusted';
  return out;
}

/** The keys of the server's settings, as the manifest contributes them. */
function serverKeys(extension: vscode.Extension<unknown>): string[] {
  const sections = [extension.packageJSON.contributes?.configuration ?? []].flat() as { properties?: object }[];
  return sections.flatMap(s => Object.keys(s.properties ?? {})).map(k => k.replace(/^sidecar\./, '')).filter(k => !own.includes(k));
}

/** Whether the user's settings name a server, and the project's do not: then it can be cleared without a change of the project. */
export function ownServerPath(): boolean {
  const at = vscode.workspace.getConfiguration('sidecar').inspect('server.path');
  return at?.globalValue !== undefined && at.workspaceValue === undefined && at.workspaceFolderValue === undefined;
}

export const clearServerPath = () => vscode.workspace.getConfiguration('sidecar').update('server.path', undefined, vscode.ConfigurationTarget.Global);

export const serverPath = () => vscode.workspace.getConfiguration('sidecar').get<string>('server.path', '').trim();
