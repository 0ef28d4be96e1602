package dispatch

// newHosts are the servers of the call that nobody has allowed in the session.
func (c *call) newHosts() []string {
	var list []string
	for _, h := range c.bound.Effects.Hosts {
		if !c.session.Remembered(hostKey("", h)) {
			list = append(list, h)
		}
	}
	return list
}

// meetHosts keeps that a person allowed the servers of the call, so that they
// are not new to the session any more. That allows no tool to do more than its
// mode lets it.
func (c *call) meetHosts() {
	for _, h := range c.bound.Effects.Hosts {
		c.session.Remember(hostKey("", h))
	}
}

// hostKey stands for a tool's use of a server; of "" for the server itself.
func hostKey(tool, host string) string { return tool + " host " + host }
