// What people have agents and their runs do, and what they decide about what those have changed.
import * as vscode from 'vscode';
import type { PastEdit } from '../protocol';
import type { Review } from '../review/commands';
import { hunksOf } from '../review/model';
import type { Pending } from '../review/store';
import { decide, editsOf, hunkStates, pendingFiles, selected, selectionOf, type Decision } from './changes';
import { imageType, largest } from './images';
import type { Changes, ToPage } from './messages';
import type { Pane } from './pane';
import { askBudget } from './budget';
import { shownOf } from './shown';
import type { Ask, Runs } from './runs';

const t = vscode.l10n.t;

/** Decisions that outlive the window. */
export interface Kept { get(): Decision[]; set(decisions: Decision[]): void }

export class Work {
  private readonly given = new vscode.EventEmitter<void>();
  /** A person has allowed something. */
  readonly onDidAllow = this.given.event;
  private readonly modes = new Map<string, string>(); // by session
  private readonly written = new Map<string, Changes>(); // by run, of those without a review

  constructor(readonly ask: Ask, readonly runs: Runs, private readonly review: Review, private readonly pending: Pending, private readonly decided: Kept, private readonly onChange: () => void) {
    review.onDidDecide(({ what, selection, before, failed }) => {
      const not = new Set(failed.map(f => f.uri));
      const outcome = what === 'accept' ? 'accepted' : 'rejected';
      this.decided.set(decide(this.decided.get(), outcome, selected(before, selection).filter(({ edit }) => !not.has(edit.uri)), selection.reason));
      onChange();
    });
  }

  // ---- runs

  async start(pane: Pane, agent: string, consent: boolean): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      throw new Error(t('Trust this folder first: agents read its files and run programs in it.'));
    }
    const row = this.runs.agent(agent), failed = this.runs.log(pane.run)?.starting?.error === undefined ? undefined : pane.run;
    if (!row?.consented && !consent) {
      pane.select(undefined);
      pane.send({ type: 'consent', agent }); // the page shows what it would see, and asks
      return;
    }
    if (failed) {
      await this.ask('sidecar.agent.close', { run: failed });
    }
    const { run } = await this.ask<{ run: string }>('sidecar.agent.run', { agent, ...(consent ? { consent: true } : {}) });
    await this.runs.refresh(consent);
    pane.select(run);
  }

  /** A start that takes too long, or isn't wanted any more. */
  async cancelStart(pane: Pane): Promise<void> {
    if (pane.run) {
      await this.ask('sidecar.agent.close', { run: pane.run });
      pane.select(undefined);
    }
  }

  /** Signing in is a question of the run's. */
  async signIn(pane: Pane, method: string): Promise<void> {
    const question = [...this.runs.log(pane.run)?.questions.values() ?? []].find(q => q.options?.some(o => o.id === method));
    if (!question) {
      throw new Error(t('The agent does not ask for this now. Send a prompt; it asks when it needs it.'));
    }
    await this.ask('sidecar.agent.answer', { run: question.run, question: question.question, answer: method });
  }

  async prompt(pane: Pane, text: string, when: 'queue' | 'steer' | 'interrupt', chips: string[]): Promise<void> {
    const before = pane.chips.chips.filter(c => chips.includes(c.id));
    const attachments = pane.chips.take(chips);
    try {
      await this.ask('sidecar.agent.prompt', { run: pane.run, text, when, ...(attachments.length > 0 ? { attachments } : {}) });
    } catch (e) {
      pane.chips.restore(attachments, before);
      pane.send({ type: 'draft', text });
      throw e;
    }
  }

  /** An item that waits is heard now: it is sent anew, before the others. */
  async hurry(run: string, item: string, when: 'steer' | 'interrupt'): Promise<void> {
    const log = this.runs.log(run), waits = log?.queue.items.find(i => i.item === item);
    if (waits) {
      if (log?.queue.cut && waits.attachments) {
        throw new Error(t('What is attached to this prompt can\'t be sent anew. Stop the agent, and continue.')); // it is not here, but with the server
      }
      await this.ask('sidecar.agent.withdraw', { run, item });
      await this.ask('sidecar.agent.prompt', { run, text: waits.text, when, ...(waits.attachments ? { attachments: waits.attachments } : {}) });
    }
  }

  /** Opens the document that a question is about. */
  async openShown(run: string, question: string): Promise<void> {
    const shown = shownOf(run, this.runs.log(run)?.questions.get(question)?.call?.uri);
    if (shown) {
      await vscode.window.showTextDocument(vscode.Uri.parse(shown.uri), { preview: false });
    }
  }

  async answer(run: string, question: string, answer: string, reason?: string, typed?: string): Promise<void> {
    const asked = this.runs.log(run)?.questions.get(question);
    const option = asked?.options?.find(o => o.id === answer);
    if (asked?.options?.length && !option && !(asked.custom && answer.trim())) {
      throw new Error(t('This is none of the answers.'));
    }
    if (asked?.irrecoverable && !option?.kind?.startsWith('reject') && typed !== 'CONFIRM') {
      throw new Error(t('This can\'t be undone. Type {0} to allow it.', 'CONFIRM'));
    }
    const shown = shownOf(run, asked?.call?.uri);
    if (shown?.what === 'plan') { // what is approved is what the person sees
      await vscode.workspace.textDocuments.find(d => d.isDirty && d.uri.toString() === vscode.Uri.parse(shown.uri).toString())?.save();
    }
    await this.ask('sidecar.agent.answer', { run, question, answer });
    if (option?.kind?.startsWith('allow')) {
      this.given.fire();
    }
    if (reason) {
      await this.ask('sidecar.agent.prompt', { run, text: reason, when: 'queue' }); // the protocol of agents has no place for it in the answer
    }
  }

  /** The server shows what the rule would have done, and asks. A yes to that is one to the question. */
  async always(run: string, question: string, scope: 'workspace' | 'user'): Promise<void> {
    const asked = this.runs.log(run)?.questions.get(question), once = asked?.options?.find(o => o.kind === 'allow_once');
    if (!asked?.always || !once || asked.irrecoverable) {
      throw new Error(t('This is none of the answers.'));
    }
    await this.ask('sidecar.policy.allowAlways', { rule: asked.always, scope });
    if (this.runs.log(run)?.questions.has(question)) {
      await this.answer(run, question, once.id);
    }
  }

  async control(run: string, what: 'cancel' | 'resume' | 'close' | 'retry' | 'retryNow' | 'continue'): Promise<void> {
    switch (what) {
      case 'cancel': await this.ask('sidecar.agent.cancel', { run }); break;
      case 'retry': {
        const prompt = this.runs.log(run)?.events.findLast(e => e.kind === 'text' && e.role === 'user');
        if (!prompt?.text) {
          throw new Error(t('There is no prompt to send again.'));
        }
        await this.ask('sidecar.agent.prompt', { run, text: prompt.text, when: 'queue' });
        break;
      }
      case 'continue':
        if ((this.runs.log(run)?.queue.items.length ?? 0) > 0) {
          await this.ask('sidecar.agent.resume', { run });
        } else {
          await this.ask('sidecar.agent.prompt', { run, text: t('Continue.'), when: 'queue' });
        }
        break;
      case 'retryNow': case 'resume': await this.ask('sidecar.agent.resume', { run }); break;
      case 'close': await this.ask('sidecar.agent.close', { run }); break;
    }
    void this.runs.refresh();
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.runs.list.filter(r => r.state === 'running' || r.state === 'waiting').map(r => this.ask('sidecar.agent.cancel', { run: r.run })));
  }

  /** Goes back to a message, or on from it in another run. */
  async branch(pane: Pane, what: 'rewind' | 'fork', at?: number, text?: string): Promise<void> {
    const { run } = pane;
    const items = [
      { label: t('Conversation Only'), detail: t('What was said from there on is forgotten; files stay.'), what: 'conversation' },
      { label: t('Files Only'), detail: t('What the agent has changed from there on is taken back.'), what: 'files' },
      { label: t('Conversation and Files'), what: 'both' },
    ];
    const chosen = what === 'fork' ? items[0] : await vscode.window.showQuickPick(items, { title: t('Rewind to here') });
    if (run && chosen) {
      const made = await this.ask<{ run: string }>(`sidecar.agent.${what}`, { run, ...(at === undefined ? {} : { at }), what: chosen.what });
      await this.runs.refresh();
      pane.select(made.run);
      if (text && chosen.what !== 'files') {
        pane.send({ type: 'draft', text }); // to be said otherwise
      }
    }
  }

  /** A new run with the same agent, with what was said in the composer; or the choice of an agent. */
  async again(pane: Pane, of: string | undefined): Promise<void> {
    const agent = this.runs.info(of)?.agent;
    const transcript = of ? (await this.runs.open(of)).events.filter(e => e.kind === 'text' && e.text).map(e => `${e.role === 'user' ? t('I said') : t('You said')}: ${e.text}`) : [];
    if (!agent || !this.runs.agent(agent)?.available) {
      pane.select(undefined);
      return;
    }
    await this.start(pane, agent, false);
    if (transcript.length > 0) {
      pane.send({ type: 'draft', text: `${t('This is how an earlier conversation went:')}\n\n${transcript.join('\n\n').slice(-8000)}\n\n` });
    }
  }

  // ---- what a run goes on from, and how far

  async summary(run: string, summary: number, text: string): Promise<void> {
    await this.ask('sidecar.agent.summary', { run, summary, ...(text.trim() ? { text } : {}) });
  }

  async compact(run: string): Promise<void> {
    await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: t('The conversation is shortened…') }, () => this.ask('sidecar.agent.compact', { run }));
  }

  /** Asks for each bound, and sets them all. */
  async budget(run: string): Promise<void> {
    const budget = await askBudget();
    if (budget) {
      await this.ask('sidecar.agent.set', { run, budget });
    }
  }

  // ---- pictures

  private async picture(run: string, image: string): Promise<{ uri: string; data: string }> {
    const given = await this.ask<{ uri: string; mime: string; data: string }>('sidecar.agent.image', { run, image });
    const bytes = Buffer.from(given.data, 'base64');
    if (bytes.length > largest || imageType(bytes) !== given.mime) {
      throw new Error(t('This is no picture that can be shown.'));
    }
    return given;
  }

  /** Gives the page a picture, or says there why not. */
  async image(pane: Pane, run: string, image: string): Promise<void> {
    try {
      const { data } = await this.picture(run, image);
      pane.send({ type: 'image', run, image, data });
    } catch (e) {
      pane.send({ type: 'image', run, image, why: e instanceof Error ? e.message : String(e) });
    }
  }

  /** Shows it in an editor. */
  async openImage(run: string, image: string): Promise<void> {
    const { uri } = await this.picture(run, image);
    await vscode.commands.executeCommand('vscode.open', vscode.Uri.parse(uri));
  }

  // ---- what runs have changed

  mode(session: string | undefined): string { return this.modes.get(session ?? '') ?? 'review'; }

  /** Whether edits of a session wait for a review. */
  reviews(session: string | undefined): boolean {
    return ['review', 'audit'].includes(this.mode(session)) || session !== undefined && editsOf(this.pending.list, session).length > 0;
  }

  /** Asks for the modes of the sessions. */
  async refreshModes(): Promise<void> {
    const { sessions } = await this.ask<{ sessions: { session: string; mode: string }[] }>('sidecar.session.list');
    this.modes.clear();
    sessions.forEach(s => this.modes.set(s.session, s.mode));
  }

  changes(run: string): ToPage | undefined {
    const session = this.runs.info(run)?.session;
    if (session === undefined) {
      return undefined;
    }
    return { type: 'changes', run, changes: this.reviews(session) ? pendingFiles(this.pending.list, session) : this.written.get(run) ?? { files: [], written: true } };
  }

  /** Asks which files a run without reviews has written. */
  async refreshWritten(run: string): Promise<void> {
    const session = this.runs.info(run)?.session;
    if (session === undefined || this.reviews(session)) {
      return;
    }
    const { entries } = await this.ask<{ entries: PastEdit[] }>('sidecar.review.history', { session, limit: 200 });
    const files: Changes['files'] = [];
    for (const f of entries.filter(e => e.what === 'apply' || e.what === 'redo').flatMap(e => e.files)) {
      const same = files.find(x => x.path === f.path);
      same ? Object.assign(same, { added: same.added + f.added, removed: same.removed + f.removed }) : files.push({ path: f.path, kind: f.kind as 'modify', added: f.added, removed: f.removed });
    }
    this.written.set(run, { written: true, files });
    this.onChange();
  }

  hunks(run: string): ToPage | undefined {
    const session = this.runs.info(run)?.session;
    const root = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '/';
    return session === undefined ? undefined : { type: 'hunks', run, calls: hunkStates(this.runs.log(run)?.events ?? [], root, this.pending.list, session, this.decided.get()) };
  }

  async changed(run: string, what: 'review' | 'accept' | 'reject' | 'diffs' | 'verify' | 'undo', file?: string): Promise<void> {
    const session = this.runs.info(run)?.session ?? '';
    const { edits, selection } = selectionOf(this.pending.list, session, file);
    switch (what) {
      case 'review': {
        this.pending.showOnly({ session, title: this.runs.info(run)?.title ?? session });
        await vscode.commands.executeCommand('sidecar.pending.focus');
        const [first] = edits;
        if (first) {
          await this.review.diff({ edit: first, hunk: hunksOf(first, session)[0] });
        }
        break;
      }
      case 'accept': case 'reject':
        await (file === undefined ? this.review.several(what, edits, this.pending.list.commits.filter(c => c.session === session), selection, this.runs.info(run)?.title || session) : this.review[what](selection));
        break;
      case 'diffs': await this.review.diffs(edits); break;
      case 'verify': await this.review.verify({ session, ...(file === undefined ? {} : selection) }); break;
      case 'undo': await vscode.commands.executeCommand('sidecar.editHistory'); break;
    }
  }

  /** The diff of a file that the run has changed. */
  async diff(run: string, file: string): Promise<void> {
    const root = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '/';
    const session = this.runs.info(run)?.session ?? '';
    const edit = editsOf(this.pending.list, session).find(e => e.path === file || vscode.Uri.joinPath(vscode.Uri.file(root), e.path).fsPath === file);
    if (!edit) {
      throw new Error(t('Nothing is pending for {0}.', vscode.workspace.asRelativePath(file)));
    }
    await this.review.diff({ edit, hunk: hunksOf(edit, session)[0] });
  }
}
