// What the page of the Agent view may ask for, and what is done then. A page shows what agents write: nothing that it sends
// names a command, and the run, the question, the prompt and the call that it names have to be ones that it shows.
import * as vscode from 'vscode';
import { diagnosticsChip, imageChip, selectionChip } from './chips';
import { conversation, output } from './markdown';
import { checkFromPage, type FromPage } from './messages';
import { attachUris, openFile, openLink, readable } from './open';
import type { Pane } from './pane';
import type { Size } from './room';
import type { Work } from './work';

const t = vscode.l10n.t;

type Handlers = { [T in FromPage['type']]: (m: Extract<FromPage, { type: T }>) => unknown };

/** What else a page may ask for is the whole view's business. */
export interface Whole {
  work: Work;
  /** Chooses what a page shows that has just come. */
  choose(pane: Pane): void;
  pick(pane: Pane, what: 'run' | 'sidecarMode' | 'agentMode' | 'model'): unknown;
  setDetail(detail: 'replies' | 'steps' | 'everything'): unknown;
  showText(name: string, text: string): Promise<void>;
  addAgent(): unknown;
  howToInstall(): unknown;
  showLog(): void;
  restart(): unknown;
  seen(): void;
  sized(pane: Pane, size: Size): Promise<void>;
}

/** Handles what a page sends, until it is gone. */
export function handleMessages(pane: Pane, whole: Whole, used: () => void): vscode.Disposable {
  const { work } = whole, { runs } = work;
  const log = () => runs.log(pane.run);
  let consented: string | undefined; // to the agent that is started next
  const handlers: Handlers = {
    ready: m => {
      pane.begin(m.run);
      whole.choose(pane);
    },
    follow: m => {
      pane.turn(m.run);
      return pane.follow(m.since);
    },
    older: m => pane.older(m.before),

    prompt: m => work.prompt(pane, m.text, m.when, m.chips),
    edit: m => work.ask('sidecar.agent.edit', { run: m.run, item: m.item, text: m.text }),
    withdraw: m => work.ask('sidecar.agent.withdraw', { run: m.run, item: m.item }),
    hurry: m => work.hurry(m.run, m.item, m.when),
    shown: m => work.openShown(m.run, m.question),
    answer: m => work.answer(m.run, m.question, m.answer, m.reason, m.typed),
    always: m => work.always(m.run, m.question, m.scope),
    control: m => work.control(m.run, m.what),
    stopAll: () => work.stopAll(),
    stopCommand: m => work.ask('sidecar.agent.stop', { run: m.run, call: m.call }),

    start: m => {
      const consent = consented === m.agent;
      consented = undefined;
      return work.start(pane, m.agent, consent);
    },
    consent: m => { consented = m.yes ? m.agent : undefined; },
    signIn: m => work.signIn(pane, m.method),
    cancelStart: () => work.cancelStart(pane),
    pick: m => whole.pick(pane, m.what),
    rewind: m => work.branch(pane, 'rewind', m.at, m.text),
    fork: m => work.branch(pane, 'fork', m.at, m.text),
    summary: m => work.summary(m.run, m.summary, m.text),
    compact: m => work.compact(m.run),
    budget: m => work.budget(m.run),
    newRun: m => work.again(pane, m.summaryOf),
    set: m => whole.setDetail(m.detail),
    size: m => whole.sized(pane, m),

    link: m => openLink(m.target),
    open: m => openFile(m.path, m.line),
    image: m => m.large ? work.openImage(m.run, m.image) : work.image(pane, m.run, m.image),
    diff: m => work.diff(m.run, m.path),
    changes: m => work.changed(m.run, m.what, m.path),
    document: async m => {
      switch (m.what) {
        case 'conversation': return whole.showText(`${readable(runs.info(m.run)?.title ?? t('Conversation'))}.md`, conversation(runs.info(m.run), await runs.whole(m.run), t));
        case 'output': return whole.showText(`${readable(m.title ?? t('Output'))}.txt`, output(await runs.whole(m.run), m.call ?? ''));
        case 'text': return whole.showText(`${readable(m.title ?? t('Text'))}.${/^[a-z0-9]{1,10}$/.exec(m.language ?? '')?.[0] ?? 'txt'}`, m.text ?? '');
      }
    },
    copy: m => vscode.env.clipboard.writeText(m.text),

    attach: async m => {
      const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
      if (m.what === 'file') {
        const chosen = await vscode.window.showOpenDialog({ canSelectMany: true, defaultUri: vscode.workspace.workspaceFolders?.[0]?.uri, openLabel: t('Add to Prompt') });
        attachUris(pane, (chosen ?? []).map(u => u.toString()));
      } else if (m.what === 'selection' && editor?.document.uri.scheme === 'file') {
        pane.chips.add(...selectionChip(editor));
      } else {
        const chip = m.what === 'diagnostics' ? diagnosticsChip() : undefined;
        chip ? pane.chips.add(...chip) : pane.notice(m.what === 'selection' ? t('No file is open in an editor.') : t('There are no problems.'));
      }
    },
    attachCompletion: m => {
      const chip = pane.completions.take(m.completion);
      if (chip) {
        pane.chips.add(...chip);
      }
    },
    attachUris: m => attachUris(pane, m.uris),
    attachImage: m => {
      const can = runs.agent(runs.info(pane.run)?.agent)?.can;
      const chip = can?.length && !can.includes('images') ? t('This agent can\'t take images.') : imageChip(m.name, m.data);
      typeof chip === 'string' ? pane.notice(chip, true) : pane.chips.add(...chip);
    },
    detach: m => pane.chips.remove(m.chip),
    complete: async m => {
      const items = await pane.completions.complete(m.query);
      if (items) {
        pane.put('completions', () => ({ type: 'completions', id: m.id, items }));
      }
    },

    seen: m => {
      pane.seen = m.questions;
      whole.seen();
    },
    do: m => {
      switch (m.what) {
        case 'showLog': return whole.showLog();
        case 'restart': return whole.restart();
        case 'trust': return vscode.commands.executeCommand('workbench.trust.manage');
        case 'addAgent': return whole.addAgent();
        case 'howToInstall': return whole.howToInstall();
      }
    },
  };

  // Whether what a message names is the shown run's.
  const isShown = (m: FromPage): boolean => {
    if (m.type !== 'ready' && m.type !== 'follow' && 'run' in m && m.run !== undefined && m.run !== pane.run) {
      return false;
    }
    switch (m.type) {
      case 'follow': return m.run === pane.run || runs.info(m.run) !== undefined;
      case 'answer': case 'always': case 'shown': return log()?.questions.has(m.question) ?? false;
      case 'edit': case 'withdraw': case 'hurry': return log()?.queue.items.some(i => i.item === m.item) ?? false;
      case 'stopCommand': return log()?.events.some(e => e.call?.call === m.call) ?? false;
      case 'image': return log()?.events.some(e => e.images?.some(i => i.image === m.image)) ?? false;
      case 'newRun': return m.summaryOf === undefined || m.summaryOf === pane.run;
      case 'start': case 'consent': case 'signIn': return runs.agent(m.agent) !== undefined;
      default: return true;
    }
  };

  return pane.webview.onDidReceiveMessage(async (value: unknown) => {
    const message = checkFromPage(value);
    if (!message) {
      return;
    }
    if (message.type !== 'ready' && message.type !== 'seen') {
      used();
    }
    try {
      if (isShown(message)) {
        await (handlers[message.type] as (m: FromPage) => unknown)(message);
      } else if (message.type === 'answer' || message.type === 'always' || message.type === 'shown') {
        pane.notice(t('This question was answered or has expired.'));
      } else if (message.type === 'edit' || message.type === 'withdraw' || message.type === 'hurry') {
        pane.notice(t('The agent has this already.'));
      }
    } catch (e) {
      pane.notice(e instanceof Error ? e.message : String(e), true);
    }
  });
}
