// Whether a diff has room beside the Agent view. No VS Code in here.

/** The width of a page, and of the window that it is in, in pixels; whether it has the focus, and whether a message is being typed there. */
export interface Size { window: number; own: number; focused?: boolean; typing?: boolean }

/** The activity bar, a side bar as wide as VS Code makes it, and the least in which two sides of code can be read. */
const least = 48 + 300 + 400;

/** Whether the view in its bar leaves less for a diff than it takes. While somebody types there, it stays. */
export const crowds = (size: Size): boolean => !size.typing && size.window > 0 && size.window - size.own < least;
