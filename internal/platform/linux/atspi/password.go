package atspi

// effectiveRole returns the role that a node is taken for: what has been a password field
// stays one.
func (p *program) effectiveRole(r ref, role roleNumber) roleNumber {
	switch role {
	case rolePassword:
		p.passwords.Add(r)
	case roleEntry, roleText:
		if p.passwords.Has(r) {
			return rolePassword
		}
	}
	return role
}
