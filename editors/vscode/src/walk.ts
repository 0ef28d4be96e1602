// The steps of the walkthrough: each ticks when a person has done it.
import * as vscode from 'vscode';

export type Step = 'start' | 'see' | 'accept' | 'allow';

/**
 * Ticks a step, if the walkthrough has been opened in this window. VS Code ticks when the context comes to hold, and never one
 * whose context holds already when it first reads the walkthrough: so it holds for a moment only, each time.
 */
export async function did(step: Step): Promise<void> {
  await vscode.commands.executeCommand('setContext', `sidecar.did.${step}`, true);
  await vscode.commands.executeCommand('setContext', `sidecar.did.${step}`, false);
}
