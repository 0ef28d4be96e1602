// A form made from a tool's schema, and the arguments made from what was put into it. No VS Code in here.
import type { Schema, ToolInfo, ToolResult } from '../protocol';
import type { Translate } from '../words';

export type FieldKind = 'text' | 'long' | 'number' | 'integer' | 'boolean' | 'choice' | 'json';
export interface Field { name: string; kind: FieldKind; required: boolean; description: string; choices: string[]; initial: string; min?: number; max?: number }

/** The fields of a tool's form, those that are required first. */
export function fields(tool: ToolInfo): Field[] {
  const { properties = {}, required = [] } = tool.inputSchema;
  const all = Object.entries(properties).map(([name, s]): Field => ({
    name, kind: kindOf(name, s), required: required.includes(name),
    description: s.description ?? '',
    choices: (s.enum ?? []).map(String),
    initial: s.default === undefined ? '' : typeof s.default === 'string' ? s.default : JSON.stringify(s.default),
    min: s.minimum, max: s.maximum,
  }));
  return [...all.filter(f => f.required), ...all.filter(f => !f.required)];
}

const longTexts = /^(content|text|patch|search|replace|command|script|message|prompt|query|question|diff)$/;

function kindOf(name: string, s: Schema): FieldKind {
  if (s.enum && s.enum.every(v => typeof v === 'string')) {
    return 'choice';
  }
  switch (s.type) {
    case 'string': return longTexts.test(name) ? 'long' : 'text';
    case 'integer': case 'number': case 'boolean': return s.type;
  }
  return 'json';
}

/** What a person put in, by field; nothing for a field that was left empty. */
export type Filled = Record<string, string | boolean | undefined>;

/** The arguments of a call. What is wrong comes back by field, and then there are no arguments. */
export function argumentsOf(list: Field[], filled: Filled, t: Translate): { arguments?: Record<string, unknown>; errors: Record<string, string> } {
  const out: Record<string, unknown> = {}, errors: Record<string, string> = {};
  for (const f of list) {
    const value = filled[f.name];
    if (value === undefined || value === '') {
      if (f.required && !(f.kind === 'long' || f.kind === 'text')) {
        errors[f.name] = t('this is needed');
      } else if (f.required) {
        out[f.name] = '';
      }
      continue;
    }
    if (!f.required && String(value) === f.initial) {
      continue; // the tool's own default
    }
    try {
      out[f.name] = typed(f, value, t);
    } catch (e) {
      errors[f.name] = e instanceof Error ? e.message : String(e);
    }
  }
  return Object.keys(errors).length > 0 ? { errors } : { arguments: out, errors };
}

function typed(f: Field, value: string | boolean, t: Translate): unknown {
  switch (f.kind) {
    case 'boolean': return typeof value === 'boolean' ? value : value === 'true';
    case 'integer': case 'number': {
      const n = Number(value);
      if (!Number.isFinite(n) || f.kind === 'integer' && !Number.isInteger(n)) {
        throw new Error(f.kind === 'integer' ? t('a whole number is expected') : t('a number is expected'));
      }
      return n;
    }
    case 'json':
      try {
        return JSON.parse(String(value)) as unknown;
      } catch {
        // a schema that allows several types is most often given a plain word
        if (/^[[{"]/.test(String(value).trim())) {
          throw new Error(t('this is not JSON'));
        }
        return value;
      }
    default: return value;
  }
}

export const escape = (s: string) => s.replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);

/** The form as HTML, without the page around it. */
export function formHtml(tool: ToolInfo, list: Field[], words: { run: string; optional: string }): string {
  const row = (f: Field) => `
    <div class="field">
      <label for="f-${escape(f.name)}">${escape(f.name)}${f.required ? ' <span class="needed">*</span>' : ''}</label>
      <div class="hint">${escape(f.description)}</div>
      ${input(f)}
      <div class="error" data-error="${escape(f.name)}" role="alert"></div>
    </div>`;
  const needed = list.filter(f => f.required), more = list.filter(f => !f.required);
  return `
    <h1>${escape(tool.title)} <code>${escape(tool.name)}</code></h1>
    <p class="about">${escape(tool.description).replace(/`([^`]+)`/g, '<code>$1</code>')}</p>
    <form id="form">
      ${needed.map(row).join('')}
      ${more.length > 0 ? `<details${needed.length === 0 ? ' open' : ''}><summary>${escape(words.optional)}</summary>${more.map(row).join('')}</details>` : ''}
      <button type="submit">${escape(words.run)}</button>
    </form>`;
}

function input(f: Field): string {
  const id = `id="f-${escape(f.name)}" name="${escape(f.name)}" data-kind="${f.kind}"`;
  switch (f.kind) {
    case 'boolean': return `<input type="checkbox" ${id}${f.initial === 'true' ? ' checked data-initial="true"' : ''}>`;
    case 'choice': return `<select ${id}><option value=""></option>${f.choices.map(c => `<option${c === f.initial ? ' selected' : ''}>${escape(c)}</option>`).join('')}</select>`;
    case 'long': return `<textarea ${id} rows="4" spellcheck="false">${escape(f.initial)}</textarea>`;
    case 'json': return `<textarea ${id} rows="3" spellcheck="false" placeholder="JSON">${escape(f.initial)}</textarea>`;
    case 'integer': case 'number':
      return `<input type="number" ${id} value="${escape(f.initial)}"${f.kind === 'integer' ? ' step="1"' : ' step="any"'}${f.min === undefined ? '' : ` min="${f.min}"`}${f.max === undefined ? '' : ` max="${f.max}"`}>`;
    case 'text': return `<input type="text" ${id} value="${escape(f.initial)}" spellcheck="false">`;
  }
}

/** A result as a document for people. */
export function resultText(r: Pick<ToolResult, 'tool' | 'ok' | 'content' | 'error' | 'durationMs' | 'approvalMs' | 'decision' | 'changes' | 'structured'> & { truncated?: { shownBytes: number; totalBytes: number } }, args: unknown, t: Translate): string {
  const fence = (lang: string, text: string) => `\`\`\`\`${lang}\n${text.replace(/\n$/, '')}\n\`\`\`\`\n`;
  const lang = /^(---|\+\+\+|diff --git|@@) /m.test(r.content) ? 'diff' : 'text';
  return [
    `# ${r.tool}: ${r.ok ? t('ok') : r.error?.code ?? t('failed')}\n`,
    [
      r.approvalMs > 0 ? t('{0} ms, and {1} ms for the answer', r.durationMs, r.approvalMs) : t('{0} ms', r.durationMs),
      t('{0} by {1}', r.decision.outcome, r.decision.by) + (r.decision.rule ? ` (${r.decision.rule})` : ''),
    ].join(' · ') + '\n',
    ...(r.changes?.length ? [r.changes.map(c => `- ${c.path}: ${c.kind}, ${c.state}`).join('\n') + '\n'] : []),
    fence(lang, r.content),
    r.truncated ? t('{0} of {1} bytes are shown.', r.truncated.shownBytes, r.truncated.totalBytes) + '\n' : '',
    `## ${t('Arguments')}\n`, fence('json', JSON.stringify(args, null, 2)),
    ...(r.structured === undefined || r.structured === null ? [] : [`## ${t('Structured')}\n`, fence('json', JSON.stringify(r.structured, null, 2))]),
  ].filter(Boolean).join('\n');
}
