package pendingedits_test

import "github.com/sidecar-ls/sidecar-ls/pendingedits"

// observer hears what a test wants to hear.
type observer struct {
	pendingedits.Nobody
	notify  func(session, text string)
	changed func()
	report  func(text string)
}

func (o *observer) Notify(session, text string) {
	if o.notify != nil {
		o.notify(session, text)
	}
}

func (o *observer) Changed() {
	if o.changed != nil {
		o.changed()
	}
}

func (o *observer) Report(text string) {
	if o.report != nil {
		o.report(text)
	}
}
