// Package text is the wing of pure functions over text and bytes: diffs, secrets masked in output, the outline of a
// long JSON message, the size of a picture, our Markdown as manuals.
//
// A room belongs here when its result depends on its arguments alone. What reads files belongs in files, what decides
// belongs in rules. Everyone may use this wing; it uses nothing of ours.
package text
