// The server speaks MCP as well: VS Code's own agents, and those of other extensions, find it there. What they do passes the
// same gate, and shows here, as theirs is the server of this window.
import * as vscode from 'vscode';
import type { Server } from '../client';

/** The id under which the manifest announces it. */
const id = 'sidecar.mcp';

export function announce(server: Server): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  return vscode.Disposable.from(
    changed,
    vscode.workspace.onDidChangeWorkspaceFolders(() => changed.fire()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => changed.fire()),
    vscode.lm.registerMcpServerDefinitionProvider(id, {
      onDidChangeMcpServerDefinitions: changed.event,
      provideMcpServerDefinitions: async () => {
        const folders = vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? []).filter(f => f.uri.scheme === 'file') : [];
        const program = folders.length > 0 ? await server.find() : [];
        if (Array.isArray(program)) {
          return []; // the server's own start says what is wrong
        }
        return folders.map(f => new vscode.McpStdioServerDefinition(
          folders.length > 1 ? `SideCar: ${f.name}` : 'SideCar', program.command, ['mcp', '--root', f.uri.fsPath], {}, program.version));
      },
    }));
}
