package atspi

// effectiveRole returns the role to use for a node: a password field keeps its role for ever.
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
