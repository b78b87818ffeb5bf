package atspi

// veiled returns the role that a node is taken for: what has been a password field
// stays one.
func (p *program) veiled(r ref, role roleNumber) roleNumber {
	switch role {
	case rolePassword:
		p.secrets.Keep(r)
	case roleEntry, roleText:
		if p.secrets.Kept(r) {
			return rolePassword
		}
	}
	return role
}
