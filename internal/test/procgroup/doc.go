// Package procgroup lets a test end a command with all that it started, where there is
// no sandbox to do so.
package procgroup
