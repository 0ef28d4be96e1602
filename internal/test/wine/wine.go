// Package wine tells tests whether they run under Wine, which lacks some of what
// Windows does.
package wine
