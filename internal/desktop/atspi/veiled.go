package atspi

// manySecrets bounds what is remembered of an app that makes up password fields.
const manySecrets = 10_000

// veiled returns the role that a node is taken for. What has been a password field
// stays one for as long as it is there: a page's own "show password" turns it into a
// text field, and shows the password to people, but not to us.
func (p *program) veiled(r ref, role roleNumber) roleNumber {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch role {
	case rolePassword:
		if p.secrets == nil {
			p.secrets = map[ref]bool{}
		}
		if len(p.secrets) < manySecrets {
			p.secrets[r] = true
		}
	case roleEntry, roleText:
		if p.secrets[r] {
			return rolePassword
		}
	}
	return role
}
