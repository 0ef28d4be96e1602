// How what people read gets into their language, where VS Code is not at hand.

/** Translates a text and puts in its values for {0}, {1}, …; in the extension it is vscode.l10n.t. */
export type Translate = (message: string, ...values: (string | number)[]) => string;

/** The text as it is written in the code. */
export const asWritten: Translate = (message, ...values) => message.replace(/\{(\d+)\}/g, (_, n: string) => String(values[Number(n)] ?? ''));
