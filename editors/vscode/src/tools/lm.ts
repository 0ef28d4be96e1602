// The tools for VS Code's own language models. Which there are is in the manifest, made from the server's list when the
// extension is packaged; every call passes the server's gate like any other.
import * as vscode from 'vscode';
import type { Server } from '../client';
import type { ToolResult } from '../protocol';

/** What the names of language model tools begin with; the name of the server's tool follows. */
const prefix = 'sidecar_';

export function registerModelTools(context: vscode.ExtensionContext, start: () => Promise<void>, server: Server): void {
  const tools = (context.extension.packageJSON.contributes?.languageModelTools ?? []) as { name: string; displayName: string }[];
  for (const { name, displayName } of tools) {
    context.subscriptions.push(vscode.lm.registerTool<object>(name, {
      prepareInvocation: () => ({ invocationMessage: displayName }),
      invoke: async ({ input }, token) => {
        await start();
        const result = await server.execute<ToolResult>('sidecar.tools.call', { name: name.slice(prefix.length), arguments: input }, token);
        return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(result.content)]);
      },
    }));
  }
}
